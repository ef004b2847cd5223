"""Jobs without a framework: every call of the neutral layer, on memory of Python's own.
Each rank checks it."""

import array
import ctypes
import gc
import os
import struct
import sys

for framework in ("torch", "tensorflow", "jax", "mxnet", "numpy"):
    sys.modules[framework] = None  # importing it fails

from weir import arguments, asynchronous, errors, memory, objects, session, transfers  # noqa: E402
from weir.dtypes import Dtype  # noqa: E402
from weir.frontend import Frontend, Part  # noqa: E402

COUNTS = [0, 1, 17, 100_003]


def mine(rank, count):
    """Small whole numbers: their sums are exact in every type."""
    return [(index * 7 + rank * 3) % 11 - 5 for index in range(count)]


def total(ranks, count):
    return [sum(numbers) for numbers in zip(*(mine(rank, count) for rank in range(ranks)))]


def summed(name, where, target=None):
    current = session.session()
    return transfers.begin_sum(current, name, where, target or where, arguments.kind_of(False))


def sums(rank, ranks):
    for code in "fdiq":
        for count in COUNTS:
            numbers = array.array(code, mine(rank, count))
            summed(f"{code}.{count}".encode(), memory.of_buffer(numbers)).wait()
            assert numbers.tolist() == total(ranks, count), (code, count)
    numbers = (ctypes.c_double * 33)(*mine(rank, 33))
    result = memoryview(bytearray(33 * 8)).cast("d")
    summed(None, memory.of_buffer(numbers), memory.of_buffer(result)).wait()
    assert result.tolist() == total(ranks, 33) and list(numbers) == mine(rank, 33)


def halves(rank, ranks):
    """Types that Python has no arrays of."""
    data = bytearray(struct.pack("<17e", *mine(rank, 17)))
    summed(b"f16", memory.of_buffer(data, Dtype.F16)).wait()
    assert list(struct.unpack("<17e", data)) == total(ranks, 17)
    upper = [struct.pack("<f", number)[2:] for number in mine(rank, 17)]  # of a small float32: its bfloat16
    data = bytearray(b"".join(upper))
    summed(b"bf16", memory.of_buffer(data, Dtype.BF16)).wait()
    got = [struct.unpack("<f", b"\0\0" + data[2 * index:2 * index + 2])[0] for index in range(17)]
    assert got == total(ranks, 17)


def handles(rank, ranks):
    lists = [array.array("f", mine(rank, count)) for count in (3, 40, 1000)]
    pending = []
    for index, numbers in enumerate(lists):
        transfer = summed(f"group.{index}".encode(), memory.of_buffer(numbers))
        pending.append(
            transfers.Then(transfer, lambda _, numbers=numbers: [number / ranks for number in numbers]))
    handle = transfers.issue(transfers.Group(pending))
    while not transfers.poll(handle):
        pass
    for count, got in zip((3, 40, 1000), transfers.synchronize(handle)):
        assert got == [number / ranks for number in total(ranks, count)]
    for misuse in (transfers.poll, transfers.synchronize):
        try:
            misuse(handle)
            raise AssertionError("a handle is valid once")
        except errors.InvalidError:
            pass


def memory_lives_as_long_as_its_transfer(rank, ranks):
    delivered = []

    def begin():
        numbers = array.array("q", mine(rank, 100_003))
        where = memory.of_buffer(numbers)
        transfers.begin_sum(session.session(), b"forgotten", where, where,
                            deliver=lambda: delivered.extend(numbers))

    begin()
    gc.collect()
    (transfer,) = session.session().transfers
    transfer.wait()
    assert delivered == total(ranks, 100_003) and not session.session().transfers


def copies(rank, ranks):
    for root in range(ranks):
        for count in COUNTS:
            data = bytearray((index + rank) % 251 for index in range(count))
            transfers.begin_copy(session.session(), f"copy.{count}".encode(), memory.raw_of_buffer(data),
                                 root).wait()
            assert data == bytearray((index + root) % 251 for index in range(count))
        for size in (0, 4080, 4100, 100_000):
            sent = {"root": root, "data": b"x" * size}
            assert objects.broadcast_object(sent if rank == root else None, root) == sent
    try:
        transfers.begin_copy(session.session(), None, memory.raw_of_buffer(bytearray(1)), ranks)
        raise AssertionError("there is no such rank")
    except errors.InvalidError:
        pass


def weights_are_kept(rank, ranks):
    """Asynchronous training: each rank adds its number to rank 0's weights."""
    weights = array.array("d", [5.0 + rank] * 100)
    kept = [memory.Declaration("kept", len(weights), Dtype.F64, 1, kept=True)]
    session.session().declare(kept)

    def add(number):
        change = array.array("d", [number] * 100)

        def start(_):
            return transfers.begin_accumulate(session.session(), b"kept", memory.of_buffer(change),
                                              output=change)

        def take(_, output):
            weights[:] = output
        asynchronous.exchange([None], start, take)

    asynchronous.begin(publish=lambda: add(5.0), fetch=lambda: add(0.0))
    assert weights[0] == 5.0
    session.barrier()  # all have looked
    add(rank + 1.0)
    session.barrier()
    add(0.0)
    assert weights.tolist() == [5.0 + sum(range(1, ranks + 1))] * 100


def failures(rank, ranks):
    if ranks == 1:
        return
    small = array.array("f", [0.0] * (10 + rank))
    try:
        summed(b"sizes", memory.of_buffer(small)).wait()
        raise AssertionError("ranks disagree")
    except errors.MismatchError as why:
        assert "sizes" in str(why), why


def questions(rank, ranks):
    assert session.is_initialized() and session.is_homogeneous()
    assert (session.local_rank(), session.local_size()) == (rank, ranks)
    assert (session.cross_rank(), session.cross_size()) == (0, 1)
    assert session.session().exchange("numbers", [rank, -rank]) == [[one, -one] for one in range(ranks)]
    moment, speed = session.get_pushpull_speed()
    assert moment > 1e12 and speed >= 0


class Own(Part):
    """What a frontend keeps: the setting that it took, and how the session ended."""

    def __init__(self, taken):
        self.taken = taken
        self.ended = None

    def close(self, failed):
        self.ended = failed


class Mine(Frontend):
    """Takes a setting of its own."""

    def part(self, settings):
        return Own(settings.pop("mine", "nothing"))


class Model:
    """Is met again in sessions that follow."""

    met = 0

    def meet(self):
        self.met += 1


def again(rank, ranks):
    model = Model()
    assert session.session().new_model(model) == 0 and session.session().new_model() == 1
    session.session().declare([memory.Declaration("declared", 3, Dtype.F32, 1, kind=b"summed")])
    first = session.session().parts[Own]
    session.suspend()
    assert (first.taken, first.ended) == ("something", False)
    session.resume(ranks, int(os.environ["WEIR_SERVERS"]), rank, mine="another")
    assert model.met == 1 and session.session().parts[Own].taken == "another"
    numbers = array.array("f", [1.0] * 3)
    summed(b"declared", memory.of_buffer(numbers)).wait()
    assert numbers.tolist() == [ranks] * 3
    session.shutdown()
    session.shutdown()


if __name__ == "__main__":
    session.init({"mine": "something"}, Mine())
    session.init()
    here = (session.rank(), session.size())
    assert here == (int(os.environ["WEIR_RANK"]), int(os.environ["WEIR_SIZE"]))
    parts = [sums, halves, handles, memory_lives_as_long_as_its_transfer, copies, failures, questions]
    if int(os.environ["WEIR_SERVERS"]) > 0:
        parts.append(weights_are_kept)
    for part in [*parts, again]:
        part(*here)
        print(f"{part.__name__} done", flush=True)
    print("all done")
