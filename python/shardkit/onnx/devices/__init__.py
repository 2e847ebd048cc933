"""ONNX's standard fields for several devices: device configurations, sharding specs, pipeline stages (IR version 11 and later)."""
