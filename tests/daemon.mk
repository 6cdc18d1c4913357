# Tests of the daemon engineer's modules.
