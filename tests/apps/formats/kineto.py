"""Writes recordings like PyTorch's profiler, for tests: two layers of one parameter each, on a GPU whose
kernels begin and end when the test wants."""

ACCUMULATE = "torch::autograd::AccumulateGrad"
EVALUATE = "autograd::engine::evaluate_function: "


def event(category, name, begin, length, thread=1, process=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread,
            "ts": begin, "dur": length, "args": args}


def op(name, begin, length, thread=1, sequence=None, **args):
    if sequence is not None:
        args["Sequence number"] = sequence
    return event("cpu_op", name, begin, length, thread, **args)


def launch(begin, correlation, thread=1):
    return event("cuda_runtime", "cudaLaunchKernel", begin, 1, thread, correlation=correlation)


def kernel(begin, end, correlation, stream=7, name="gemm"):
    return event("kernel", name, begin, end - begin, stream, 0, correlation=correlation, stream=stream)


def accumulate(begin, shape, thread=2, dtype="float"):
    return [op(EVALUATE + ACCUMULATE, begin, 4, thread),
            op(ACCUMULATE, begin + 1, 2, thread, **{"Input Dims": [shape], "Input type": [dtype]})]


def step(number, begin, length):
    return event("user_annotation", f"ProfilerStep#{number}", begin, length)


def events():
    """An iteration from the first kernel at 100 us to the next one's at 1100 us. For 200 us of it only NCCL
    runs."""
    return [
        step(5, 0, 1000),
        op("aten::linear", 10, 10, sequence=1), launch(12, 1),
        op("aten::linear", 30, 10, sequence=2), launch(32, 2),
        op(EVALUATE + "AddmmBackward0", 50, 10, 2, 2), launch(52, 3, 2), *accumulate(61, [10, 10]),
        op(EVALUATE + "AddmmBackward0", 70, 10, 2, 1), launch(72, 4, 2), *accumulate(81, [300]),
        launch(90, 9, 2), op("aten::add_", 100, 5), launch(102, 5),
        kernel(100, 200, 1), kernel(200, 250, 2), kernel(250, 400, 3), kernel(400, 700, 4),
        kernel(400, 900, 9, 20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"), kernel(900, 950, 5),
        step(6, 1000, 500), op("aten::linear", 1010, 10, sequence=3), launch(1012, 6), kernel(1100, 1200, 6),
    ]


def recording(all_events, **more):
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A GPU"}],
            "traceEvents": all_events, **more}
