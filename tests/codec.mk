# Tests of the codec engineer's modules.
