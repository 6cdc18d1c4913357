# Tests of the proto engineer's modules.
