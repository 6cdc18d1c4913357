# Tests of the dsp engineer's modules.
