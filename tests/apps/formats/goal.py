"""Reads GOAL with exactly the grammar of LogGOPSim's txt2bin, and replays schedules on a network without
delay, for tests. It is independent of Weir. Run by itself: python3 tests/apps/formats/goal.py FILE"""

import heapq
import re
import sys

OP = re.compile(r"(?:([a-zA-Z]\w*)[ \t]*:[ \t]*)?(?:"
                r"(send)[ \t]+(\d+)b[ \t]+to[ \t]+(\d+)[ \t]+tag[ \t]+(\d+)"
                r"[ \t]+cpu[ \t]+(\d+)[ \t]+nic[ \t]+(\d+)|"
                r"(recv)[ \t]+(\d+)b[ \t]+from[ \t]+(\d+)[ \t]+tag[ \t]+(\d+)"
                r"[ \t]+cpu[ \t]+(\d+)[ \t]+nic[ \t]+(\d+)|"
                r"(calc)[ \t]+(\d+)(?:[ \t]+cpu[ \t]+(\d+))?)[ \t]*")
EDGE = re.compile(r"([a-zA-Z]\w*)[ \t]+requires[ \t]+([a-zA-Z]\w*)[ \t]*")


class Op:
    def __init__(self, rank, match):
        _, send, size, to, tag, cpu, _, receive, size_, sender, tag_, cpu_, _, _, time, cpu__ = match.groups()
        self.rank = rank
        self.kind = send or receive or "calc"
        self.size = int(size or size_ or 0)
        self.time = int(time or 0)
        self.peer = int(to or sender or rank)
        self.tag = int(tag or tag_ or 0)
        self.cpu = int(cpu or cpu_ or cpu__ or 0)
        if not 0 <= self.cpu < 256:
            raise ValueError(f"cpu {self.cpu}")
        self.waits, self.after = 0, []


def read(text):
    """All ops, those of a rank together."""
    ops, rank, labels, ranks = [], None, {}, None
    for line in text.split("\n"):
        if not line or line.startswith("//"):
            continue
        if ranks is None:
            ranks = int(re.fullmatch(r"num_ranks (\d+)", line)[1])
        elif rank is None:
            rank = int(re.fullmatch(r"rank (\d+) \{", line)[1])
            labels = {}
        elif line == "}":
            rank = None
        elif match := OP.fullmatch(line):
            ops.append(Op(rank, match))
            if match[1] in labels:
                raise ValueError(f"{match[1]} stands twice in rank {rank}")
            labels[match[1]] = ops[-1]
        else:
            after, before = EDGE.fullmatch(line).groups()
            labels[before].after.append(labels[after])
            labels[after].waits += 1
    if rank is not None or {op.rank for op in ops} != set(range(ranks)):
        raise ValueError("ranks are missing, or one does not end")
    return ops


def matched(ops):
    """The receive of each send, and the send of each receive."""
    ends = {}
    for op in ops:
        if op.kind == "calc":
            continue
        pair = (op.rank, op.peer, op.tag) if op.kind == "send" else (op.peer, op.rank, op.tag)
        if op.kind in ends.setdefault(pair, {}):
            raise ValueError(f"two {op.kind}s of {pair}")
        ends[pair][op.kind] = op
    other = {}
    for pair, both in ends.items():
        if set(both) != {"send", "recv"} or both["send"].size != both["recv"].size:
            raise ValueError(f"no match: {pair}")
        other[both["send"]], other[both["recv"]] = both["recv"], both["send"]
    return other


def replay(text):
    """The end of the last op in ns, and the bytes that each rank has sent and received. A message moves once
    both its ends wait for nothing else; a CPU does one calculation at a time."""
    ops = read(text)
    other, waits = matched(ops), {op: op.waits for op in ops}
    sent, received, free, begun = {}, {}, {}, set()
    ready, now, done = [], 0, 0
    order = {op: i for i, op in enumerate(ops)}

    def begin(op, at):
        if op.kind == "calc":
            start = max(at, free.get((op.rank, op.cpu), 0))
            free[op.rank, op.cpu] = start + op.time
            heapq.heappush(ready, (start + op.time, order[op], op))
            return
        begun.add(op)
        if other[op] in begun:
            send = op if op.kind == "send" else other[op]
            sent[send.rank] = sent.get(send.rank, 0) + send.size
            received[send.peer] = received.get(send.peer, 0) + send.size
            for end in (op, other[op]):
                heapq.heappush(ready, (at, order[end], end))

    for op in ops:
        if op.waits == 0:
            begin(op, 0)
    while ready:
        now, _, op = heapq.heappop(ready)
        done += 1
        for one in op.after:
            waits[one] -= 1
            if waits[one] == 0:
                begin(one, now)
    if done < len(ops):
        raise ValueError(f"{len(ops) - done} ops wait for each other")
    return now, sent, received


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(replay(file.read()))
