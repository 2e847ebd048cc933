# Included by Kernels.cmake and Embed.cmake, which define kernels_dir.
set(kernel_headers ${kernels_dir}/../KernelAbi.h ${kernels_dir}/../../../include/shardkit/rt/abi.h)
set(kernel_sources ${kernels_dir}/kernels.c ${kernels_dir}/attention.c ${kernel_headers})
set(kernel_names kernels attention_f32 attention_f16 attention_bf16 attention_tf32)
