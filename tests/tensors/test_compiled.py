"""The kernels of `bestcut.torch`, in Triton's own language: no device is needed.

The interpreter takes more than the compiler does. And a user waits for the compiler
when a kernel is called first, about in proportion to the operations that it is given.
"""

import os

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
triton = pytest.importorskip("triton", reason="Triton is not installed")
if os.environ.get("TRITON_INTERPRET") == "1":
    pytest.skip("kernels are interpreted", allow_module_level=True)

from triton._C.libtriton import ir  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.compiler.compiler import make_backend  # noqa: E402

from bestcut.torch import _fast  # noqa: E402

HOPPER = GPUTarget("cuda", 90, 32)
TYPES = {torch.float32: "*fp32", torch.float64: "*fp64", torch.bfloat16: "*bf16"}
LARGEST = 5500  # operations; a kernel of 10,400 took half a minute to compile


def type_of(name, dtype):
    """Return the type of a kernel's argument, as a launch would give it."""
    if name.isupper():
        return "constexpr"
    types = {"p_ptr": TYPES[dtype], "mask_ptr": "*u8", "marks_ptr": "*i32"}
    return types.get(name, "*fp64" if name.endswith("_ptr") else "i32")


def operations(launch, dtype):
    """Return how many lines a kernel has in Triton's first representation."""
    types = {x: type_of(x, dtype) for x in launch.kernel.arg_names}
    source = ASTSource(launch.kernel, types, constexprs=dict(launch.constants))
    backend = make_backend(HOPPER)
    options = backend.parse_options(dict(launch.options))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    implementation = backend.get_codegen_implementation(options)
    modules = backend.get_module_map()
    made = source.make_ir(HOPPER, options, implementation, modules, context)
    return len(str(made).splitlines())


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("kind", [0, 1], ids=["f-beta", "jaccard"])
@pytest.mark.parametrize("pixels", [256, 1024, 1000, 1 << 14, 10_001])
def test_kernels_compile_and_are_not_long(pixels, kind, dtype):
    plan = _fast._Plan(torch.empty((3, pixels), dtype=dtype), kind, True)
    for launch in plan.launches:
        assert operations(launch, dtype) <= LARGEST
