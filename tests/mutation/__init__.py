"""Tests of the tests: what they notice of a source with one thing wrong."""
