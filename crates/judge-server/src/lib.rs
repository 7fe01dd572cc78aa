//! A judge for tests and benchmarks: an OpenAI-compatible server on loopback with latency, faults and capacity.
