"""What torch-mlir lowers PyTorch and ONNX to, made ShardKit's."""
