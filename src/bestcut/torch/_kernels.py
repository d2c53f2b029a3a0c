"""Masks of large maps on a GPU: a sample, a read, and a read that writes.

For F-beta and Jaccard the best mask holds the pixels of probability at least t, where t
is what one pixel more must have not to lower the expected score. By Lemma 22 that
depends on the map by its number of pixels above t and a few sums of powers of
probabilities, above t and over all. So from any t that is about right, one read gives
the sums, and these the next t, whose error is the square of the last one's:

1. `sample` finds t from some pixels, one program a map;
2. `turn` reads the map, sums, and finds the next t; and does that again, writing the
   mask, until the mask is proved to be within `_GOOD` of the best one;
3. maps with few expected positives are not told well by sums: `collect` lists their
   largest pixels, `solve` scores every cut of the list, and a last turn writes.

What a map does not need ends at once; nothing waits for the host. All sums are taken in
a fixed order, so that results are the same bit for bit. The last program of a map to
finish adds up what the others left.
"""

# mypy: ignore-errors
# Triton compiles these functions from their source: they are written in its language.

from __future__ import annotations

import triton
import triton.language as tl

STATE = 16  # numbers that are kept of a map, see the constants below
NODES = 32  # of Gauss and Laguerre
LEFT = 9  # sums that a program of `turn` leaves
LISTED = 1024  # pixels of a faint map that are listed at most
EVEN = 128  # nodes of Gauss and Legendre, for faint and small maps

# What is kept of a map.
THRESHOLD = tl.constexpr(0)  # of the next turn
WINDOW = tl.constexpr(1)  # how far from it pixels are counted
TOTALS = tl.constexpr(2)  # sums of p, p², p³ and p⁴ over the map: four numbers
SCORE = tl.constexpr(6)
ERROR = tl.constexpr(7)
COUNT = tl.constexpr(8)
WRITTEN = tl.constexpr(9)  # the threshold of the mask
LOSS = tl.constexpr(10)  # what the best mask may have more
BAD = tl.constexpr(11)  # whether there are pixels that are no probabilities
LIST_FROM = tl.constexpr(12)  # the least probability that is listed
DENSE = tl.constexpr(13)  # pixels for each unit of probability near the threshold

# What a map does next.
DONE = tl.constexpr(0)
READ = tl.constexpr(1)
WRITE = tl.constexpr(2)
LIST = tl.constexpr(3)
SOLVED = tl.constexpr(4)  # to be written as the list says

_GOOD = tl.constexpr(8e-10)
_UNKNOWN = tl.constexpr(1e300)
_SHIFT = tl.constexpr(2.0)  # of p / s²: how one pixel more changes the threshold
_LEAST = tl.constexpr(400.0)  # predicted and expected positives that sums want
_FAINT = tl.constexpr(400.0)  # expected positives of maps that a list may tell
_FLOAT = tl.constexpr(6e-8)  # relative rounding of a float32
_FAR = tl.constexpr(1 << 62)  # beyond every map
_NOTHING = tl.constexpr(2.0)  # a threshold that no pixel reaches


@triton.jit
def _two(a, b, c, d):
    return a + c, b + d


@triton.jit
def sample(
    p_ptr, state_ptr, mode_ptr, counter_ptr, n, b2,
    SIZE: tl.constexpr, STEPS: tl.constexpr, WIDTH: tl.constexpr,
    ALL_LISTED: tl.constexpr,
):  # fmt: skip
    """Find a threshold from some pixels of each map, and begin its state."""
    one = tl.program_id(0).to(tl.int64)
    base = state_ptr + one * WIDTH
    tl.store(counter_ptr + 2 * one, 0)
    tl.store(counter_ptr + 2 * one + 1, 0)
    tl.store(base + LOSS, _UNKNOWN)
    if ALL_LISTED:
        tl.store(mode_ptr + one, LIST)
        tl.store(base + LIST_FROM, -1.0)
        tl.store(base + BAD, 0.0)
    else:
        i = tl.arange(0, SIZE)
        if n > SIZE:
            # One pixel of every stretch, at places that no pattern follows.
            stretch = n // SIZE
            mixed = i.to(tl.uint32) * 747796405 + 277803737
            mixed = ((mixed >> 15) ^ mixed) * 2654435769
            mixed = (mixed >> 16) ^ mixed
            at = i.to(tl.int64) * stretch + (mixed % stretch.to(tl.uint32)).to(tl.int64)
        else:
            at = i.to(tl.int64)
        x = tl.load(p_ptr + one * n + at, mask=at < n, other=0.0).to(tl.float32)
        x = tl.where((x >= 0.0) & (x <= 1.0), x, 0.0)
        total = tl.sum(x, axis=0)
        t = total / SIZE
        count = 0.0
        for _ in range(STEPS):
            above = x > t
            hits, count = tl.reduce(
                (tl.where(above, x, 0.0), above.to(tl.float32)), 0, _two
            )
            t = hits / tl.maximum(count + b2 * total, 1e-30)
        inside = (x > t).to(tl.float32)
        apart = inside * x - t * (inside + b2 * x)
        spread = tl.sqrt(tl.sum(apart * apart, axis=0)) / tl.maximum(
            count + b2 * total, 1e-30
        )
        tl.store(base + THRESHOLD, t.to(tl.float64))
        window = tl.maximum(tl.minimum(4.0 * spread, t), 1e-4 * t + 1e-12)
        near = tl.sum((tl.abs(x - t) <= window).to(tl.float32), axis=0)
        dense = near * (n / SIZE) / (2.0 * window)
        tl.store(base + DENSE, dense.to(tl.float64))
        tl.store(base + WINDOW, window.to(tl.float64))
        tl.store(mode_ptr + one, READ)


@triton.jit
def _gone(y):
    """Return 1 - exp(-y) for small y, where a difference would lose all digits."""
    return y * (1.0 - y / 2 * (1.0 - y / 3 * (1.0 - y / 4 * (1.0 - y / 5 * (
        1.0 - y / 6 * (1.0 - y / 7 * (1.0 - y / 8 * (1.0 - y / 9))))))))  # fmt: skip


@triton.jit
def _over_nodes(
    k, k1, k2, k3, k4, p1, p2, p3, p4, t, b2, x, weight, KIND: tl.constexpr
):
    """Return the expected score, and the probability that one pixel more must have.

    Integrals over z from 0 to 1 by Gauss and Laguerre, z = exp(-x / s) (Lemma 22).
    """
    p = t
    if KIND == 0:
        s = k + b2 * p1
        w = _gone(b2 * x / s)
        lost = _gone(x / s)
        log_g = -(w * (p1 + w * (p2 / 2 + w * (p3 / 3 + w * p4 / 4))))
        part = weight * tl.exp(x - x * (k + b2) / s + log_g) / s
        hits = k1 + w * (k2 + w * (k3 + w * k4))
        score = (1.0 + b2) * tl.sum(part * hits, axis=0)
        want = tl.sum(part * lost * hits, axis=0)
        for _ in range(4):
            p = want / tl.sum(part * (1.0 - lost) / (1.0 - p * w), axis=0)
    else:
        q1 = p1 - k1
        s = k + q1
        w = _gone(x / s)
        log_g = -(
            w * (q1 + w * ((p2 - k2) / 2 + w * ((p3 - k3) / 3 + w * (p4 - k4) / 4)))
        )
        part = weight * tl.exp(x - x * k / s + log_g) / s
        score = k1 * tl.sum(part, axis=0)
        for _ in range(4):
            less = k1 * tl.sum(part * w / (1.0 - p * w), axis=0)
            p = less / (less + tl.sum(part * (1.0 - w) / (1.0 - p * w), axis=0))
    return score, p


@triton.jit
def _left(left_ptr, which: tl.constexpr, chunks, CHUNKS: tl.constexpr):
    """Return the sum of what the programs of a map left, always in the same order."""
    i = tl.arange(0, CHUNKS)
    # Past the first cache, which other multiprocessors do not write to.
    found = tl.load(
        left_ptr + which * chunks + i, mask=i < chunks, other=0.0, cache_modifier=".cg"
    )
    return tl.sum(found, axis=0)


@triton.jit
def _added(high, low, x):
    """Add x to a sum that is no smaller: as if it had twice the digits."""
    total = high + x
    return total, low + ((high - total) + x)


@triton.jit
def _whole(high, low, begin):
    """Return the sum of sums that did not begin with 0."""
    return tl.sum((high.to(tl.float64) - begin) + low.to(tl.float64), axis=0)


@triton.jit
def turn(
    p_ptr, mask_ptr, state_ptr, mode_ptr, counter_ptr, left_ptr, node_ptr,
    tie_ptr, n, chunks,
    KIND: tl.constexpr, FIRST: tl.constexpr, LAST: tl.constexpr, DOUBLE: tl.constexpr,
    BLOCK: tl.constexpr, LOOPS: tl.constexpr, CHUNKS: tl.constexpr,
    WIDTH: tl.constexpr, COUNT_OF_NODES: tl.constexpr, COLUMNS: tl.constexpr,
    EVEN: tl.constexpr,
):  # fmt: skip
    """Read each map once: sum, write its mask if it is time, and find the next t."""
    one = (tl.program_id(0) // chunks).to(tl.int64)
    part = tl.program_id(0) % chunks
    mode = tl.load(mode_ptr + one)
    if LAST and mode == READ:
        mode = 2
    if (mode == DONE) | (mode == LIST) | ((mode == SOLVED) & (not LAST)):
        return
    base = state_ptr + one * WIDTH
    b2 = tl.load(node_ptr)
    empty = tl.load(node_ptr + 1)
    t = tl.load(base + THRESHOLD)
    window = tl.load(base + WINDOW)
    work = tl.float64 if DOUBLE else tl.float32
    edge = t.to(work)
    width = window.to(work)
    start = part.to(tl.int64) * (BLOCK * LOOPS)
    length = tl.minimum(n - start, BLOCK * LOOPS).to(tl.int32)
    source = p_ptr + one * n + start
    target = mask_ptr + one * n + start
    if LAST:
        tie = tl.load(tie_ptr + one)
        tie = tl.where(mode == SOLVED, tie, n) - start
    count = tl.zeros([BLOCK], tl.int32)
    near = tl.zeros([BLOCK], tl.int32)
    least = tl.zeros([BLOCK], work)
    most = tl.zeros([BLOCK], work)
    k1 = tl.full([BLOCK], 1.0, work)
    k1_low = tl.zeros([BLOCK], work)
    k2 = tl.zeros([BLOCK], work)
    k3 = tl.zeros([BLOCK], work)
    k4 = tl.zeros([BLOCK], work)
    p1 = tl.full([BLOCK], 1.0, work)
    p1_low = tl.zeros([BLOCK], work)
    p2 = tl.zeros([BLOCK], work)
    p3 = tl.zeros([BLOCK], work)
    p4 = tl.zeros([BLOCK], work)
    for i in range(LOOPS):
        at = i * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            x = tl.load(source + at).to(work)
            above = x >= edge
        else:
            there = at < length
            x = tl.load(source + at, mask=there, other=0.0).to(work)
            above = (x >= edge) & there
        if LAST:  # of pixels that tie at the cut of a list, the first ones
            above = above & ((x > edge) | (at <= tie))
        if (mode == WRITE) | (mode == SOLVED):
            if EVEN:
                tl.store(target + at, above.to(tl.uint8))
            else:
                tl.store(target + at, above.to(tl.uint8), mask=there)
        y = tl.where(above, x, 0.0)
        count += above.to(tl.int32)
        k1, k1_low = _added(k1, k1_low, y)
        square = x * x
        if FIRST:
            least = tl.minimum(least, x)
            most = tl.maximum(most, x)
            p1, p1_low = _added(p1, p1_low, x)
            p2 += square
        else:
            near += (tl.abs(x - edge) <= width).to(tl.int32)
            above_square = y * y
            k2 += above_square
            k3 += above_square * y
            k4 += above_square * above_square
            p3 += square * x
            p4 += square * square
    left = left_ptr + one * COLUMNS * chunks + part
    tl.store(left, tl.sum(count, axis=0).to(tl.float64))
    tl.store(left + chunks, _whole(k1, k1_low, 1.0))
    tl.store(left + 2 * chunks, tl.sum(near, axis=0).to(tl.float64))
    if FIRST:
        total = _whole(p1, p1_low, 1.0)
        wrong = (tl.max(most, axis=0) > 1.0) | (tl.min(least, axis=0) < 0.0)
        wrong = wrong | (total != total)  # as a NaN makes it
        tl.store(left + 3 * chunks, total)
        tl.store(left + 4 * chunks, tl.sum(p2.to(tl.float64), axis=0))
        tl.store(left + 5 * chunks, wrong.to(tl.float64))
    else:
        tl.store(left + 3 * chunks, tl.sum(k2.to(tl.float64), axis=0))
        tl.store(left + 4 * chunks, tl.sum(k3.to(tl.float64), axis=0))
        tl.store(left + 5 * chunks, tl.sum(k4.to(tl.float64), axis=0))
        tl.store(left + 6 * chunks, tl.sum(p3.to(tl.float64), axis=0))
        tl.store(left + 7 * chunks, tl.sum(p4.to(tl.float64), axis=0))
    # The last program of a map to come here has everything that the others left.
    tl.debug_barrier()
    before = tl.atomic_add(counter_ptr + 2 * one, 1, sem="acq_rel")
    if before == chunks - 1:
        tl.store(counter_ptr + 2 * one, 0)
        every = left_ptr + one * COLUMNS * chunks
        k = _left(every, 0, chunks, CHUNKS)
        s1 = _left(every, 1, chunks, CHUNKS)
        close = _left(every, 2, chunks, CHUNKS)
        some = tl.maximum(k, 1.0)
        mean = s1 / some
        if FIRST:
            a1 = _left(every, 3, chunks, CHUNKS)
            a2 = _left(every, 4, chunks, CHUNKS)
            tl.store(base + TOTALS, a1)
            tl.store(base + TOTALS + 1, a2)
            tl.store(base + BAD, _left(every, 5, chunks, CHUNKS))
            # About: the next turn has them as they are.
            s2 = mean * s1
            s3 = mean * s2
            s4 = mean * s3
            a3 = s3
            a4 = s4
        else:
            a1 = tl.load(base + TOTALS)
            a2 = tl.load(base + TOTALS + 1)
            s2 = _left(every, 3, chunks, CHUNKS)
            s3 = _left(every, 4, chunks, CHUNKS)
            s4 = _left(every, 5, chunks, CHUNKS)
            a3 = _left(every, 6, chunks, CHUNKS)
            a4 = _left(every, 7, chunks, CHUNKS)
        tl.store(base + COUNT, k)
        tl.store(base + WRITTEN, t)
        if mode == SOLVED:
            tl.store(mode_ptr + one, DONE)
        else:
            j = tl.arange(0, COUNT_OF_NODES)
            node = tl.load(node_ptr + 2 + j)
            weight = tl.load(node_ptr + 2 + COUNT_OF_NODES + j)
            size = some + b2 * a1
            score, again = _over_nodes(
                some, s1, s2, s3, s4, a1, a2, a3, a4, t, b2, node, weight, KIND
            )
            nothing = a1 <= 0.0
            again = tl.where(nothing, _NOTHING, tl.minimum(tl.maximum(again, 0.0), 1.0))
            score = tl.where(k > 0.0, score, tl.where(nothing, empty, 0.0))
            # Lemma 22: powers that are left out, and what float32 sums round.
            steep = tl.maximum(b2, 1.0)
            out = 48.0 * (a4 / size + 1.0) / (size * size * size * size)
            out = out * steep * steep * steep * steep * steep
            rounds = steep * (3.0 * _FLOAT * (LOOPS + 8)) / size
            tl.store(base + SCORE, score)
            tl.store(base + ERROR, score * (out + rounds + 1e-12) + 1e-13)
            edge_again = again.to(work).to(tl.float64)
            apart = tl.abs(again - t)
            if FIRST:
                dense = tl.load(base + DENSE)
                close = dense * 2.0 * window
            else:
                dense = close / (2.0 * window)
            wrong_by = dense * apart * apart / size + again / (size * size)
            wrong_by = wrong_by + 2.0 * _FLOAT * again
            # What one pixel near t moves it by, times s²: others cannot change sides.
            shift = (1.0 + b2) * again * _SHIFT
            rest = tl.maximum(size - close, 1.0)
            reach = apart + shift * close / (rest * rest)
            loss = 2.0 * reach * close / rest
            inside = (reach <= window) & (4.0 * close <= size)
            loss = tl.where(inside, loss, _UNKNOWN)
            soon = dense * wrong_by * wrong_by / size <= _GOOD
            # No more than 1024 pixels have as much; are there any, to speak of?
            list_from = a1 / 1024.0
            heavy = a2 > list_from * a1
            few = size < steep * _LEAST
            faint = few | (heavy & (soon == 0))
            faint = faint | ((empty != 0.0) & (a1 < 60.0))
            # Integrands of lists are polynomials only for a whole beta².
            whole = b2 == tl.floor(b2)
            listed = faint & (a1 < _FAINT) & (nothing == 0) & whole
            loss = tl.where(few | faint, _UNKNOWN, loss)
            tl.store(base + LOSS, tl.where(nothing, 0.0, loss))
            done = (mode == WRITE) & ((loss <= _GOOD) | nothing)
            soon = soon | (mode == WRITE)
            after = tl.where(done, DONE, tl.where(soon, WRITE, READ))
            tl.store(mode_ptr + one, tl.where(listed, LIST, after))
            tl.store(base + LIST_FROM, list_from)
            tl.store(base + THRESHOLD, edge_again)
            # Wide enough for all that could change sides, if these are not known yet.
            wide = tl.where(inside & (not FIRST), 2.0 * reach, shift / size)
            tl.store(base + WINDOW, tl.maximum(2.0 * wrong_by, wide + 1e-12))


@triton.jit
def collect(
    p_ptr, state_ptr, mode_ptr, counter_ptr, left_ptr, list_ptr, place_ptr, n, chunks,
    DOUBLE: tl.constexpr, BLOCK: tl.constexpr, LOOPS: tl.constexpr,
    WIDTH: tl.constexpr, COLUMNS: tl.constexpr, SIZE: tl.constexpr,
):  # fmt: skip
    """List the largest pixels of faint maps, and sum powers of the others."""
    one = (tl.program_id(0) // chunks).to(tl.int64)
    part = tl.program_id(0) % chunks
    if tl.load(mode_ptr + one) != LIST:
        return
    base = state_ptr + one * WIDTH
    work = tl.float64 if DOUBLE else tl.float32
    least = tl.load(base + LIST_FROM).to(work)
    start = part.to(tl.int64) * (BLOCK * LOOPS)
    length = tl.minimum(n - start, BLOCK * LOOPS).to(tl.int32)
    source = p_ptr + one * n + start
    begin = tl.maximum(least, 0.0)  # what is added is below
    r1 = tl.zeros([BLOCK], work) + begin
    r1_low = tl.zeros([BLOCK], work)
    r2 = tl.zeros([BLOCK], work)
    r3 = tl.zeros([BLOCK], work)
    r4 = tl.zeros([BLOCK], work)
    lowest = tl.zeros([BLOCK], work)
    most = tl.zeros([BLOCK], work)
    wrong = tl.zeros([BLOCK], tl.int32)
    for i in range(LOOPS):
        at = i * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(source + at, mask=at < length, other=0.0).to(work)
        lowest = tl.minimum(lowest, x)
        most = tl.maximum(most, x)
        wrong += (x != x).to(tl.int32)
        y = tl.where(x >= least, 0.0, x)
        square = y * y
        r1, r1_low = _added(r1, r1_low, y)
        r2 += square
        r3 += square * y
        r4 += square * square
    highest = tl.max(most, axis=0)
    if (highest > 1.0) | (tl.min(lowest, axis=0) < 0.0) | (tl.sum(wrong, axis=0) > 0):
        tl.store(base + BAD, 1.0)
    if highest >= least:
        for i in range(LOOPS):
            at = i * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(source + at, mask=at < length, other=0.0).to(work)
            chosen = (x >= least) & (at < length)
            many = tl.sum(chosen.to(tl.int32), axis=0)
            if many > 0:
                first = tl.atomic_add(counter_ptr + 2 * one + 1, many)
                place = first + tl.cumsum(chosen.to(tl.int32), axis=0) - 1
                fits = chosen & (place < SIZE)
                tl.store(list_ptr + one * SIZE + place, x, mask=fits)
                tl.store(place_ptr + one * SIZE + place, start + at, mask=fits)
    left = left_ptr + one * COLUMNS * chunks + part
    tl.store(left, _whole(r1, r1_low, begin))
    tl.store(left + chunks, tl.sum(r2.to(tl.float64), axis=0))
    tl.store(left + 2 * chunks, tl.sum(r3.to(tl.float64), axis=0))
    tl.store(left + 3 * chunks, tl.sum(r4.to(tl.float64), axis=0))


@triton.jit
def _solved(
    base, one, mode_ptr, tie_ptr, list_ptr, place_ptr, node_ptr, every, many, n, chunks,
    KIND: tl.constexpr, CHUNKS: tl.constexpr, SIZE: tl.constexpr, ROOM: tl.constexpr,
    COUNT_OF_NODES: tl.constexpr, BEFORE: tl.constexpr, BESIDE: tl.constexpr,
):  # fmt: skip
    """Score every cut of a list of at most SIZE pixels, and choose the best."""
    r1 = _left(every, 0, chunks, CHUNKS)
    r2 = _left(every, 1, chunks, CHUNKS)
    r3 = _left(every, 2, chunks, CHUNKS)
    r4 = _left(every, 3, chunks, CHUNKS)
    b2 = tl.load(node_ptr)
    empty = tl.load(node_ptr + 1)
    i = tl.arange(0, SIZE)
    listed = tl.load(list_ptr + one * ROOM + i, mask=i < many, other=0.0)
    places = tl.load(place_ptr + one * ROOM + i, mask=i < many, other=0)
    p = tl.sort(listed, descending=True).to(tl.float64)
    k = (i + 1).to(tl.float64)[:, None]
    score = tl.zeros([SIZE], tl.float64)
    hits = tl.cumsum(p, axis=0)
    total = tl.sum(p, axis=0)
    least = tl.maximum(tl.load(base + LIST_FROM), 0.0)
    beyond = (
        0.0 * total
    )  # of all that is listed, and one pixel more of that probability
    for first in range(0, COUNT_OF_NODES, BESIDE):
        j = first + tl.arange(0, BESIDE)
        z = tl.load(node_ptr + BEFORE + j)
        weight = tl.load(node_ptr + BEFORE + COUNT_OF_NODES + j)
        log_z = tl.log(z)
        w = 1.0 - tl.exp(b2 * log_z)
        rest = -(w * (r1 + w * (r2 / 2 + w * (r3 / 3 + w * r4 / 4))))
        left = 1.0 - p[:, None] * w[None, :]
        logs = tl.log(left)
        if KIND == 0:
            whole = (1.0 + b2) * weight * tl.exp(rest + tl.sum(logs, axis=0))
            each = p[:, None] / left
            power = tl.exp((k - 1.0 + b2) * log_z[None, :])
            score += tl.sum(whole[None, :] * power * tl.cumsum(each, axis=0), axis=1)
            more = tl.sum(each, axis=0) + least / (1.0 - least * w)
            beyond += tl.sum(whole * tl.exp((many + b2) * log_z) * more, axis=0)
        else:
            below = rest + tl.sum(logs, axis=0)
            below = below[None, :] - tl.cumsum(logs, axis=0)
            parts = weight[None, :] * tl.exp((k - 1.0) * log_z[None, :] + below)
            score += tl.sum(parts, axis=1) * hits
            after = tl.exp(many * log_z + rest - tl.log(1.0 - least * w))
            beyond += tl.sum(weight * after, axis=0) * (total + least)
    score = tl.where(i < many, score, -1.0)
    best = tl.max(score, axis=0)
    place = tl.min(tl.where(score >= best, i, SIZE), axis=0)
    t = tl.sum(tl.where(i == place, p, 0.0), axis=0)
    # Of pixels that tie with the last one, those come that stand first in the map.
    ties = place + 1 - tl.sum((p > t).to(tl.int32), axis=0)
    tied = tl.sort(tl.where((listed.to(tl.float64) == t) & (i < many), places, _FAR))
    nobody = tl.exp(
        -(r1 + r2 / 2 + r3 / 3 + r4 / 4)
        + tl.sum(tl.log(tl.maximum(1.0 - p, 1e-300)), axis=0)
    )
    none = empty * nobody
    # At the end of the list there may be more pixels that pay: then sums must do. But
    # where nothing is positive, any mask that is not empty scores 0.
    empty_is_best = none >= tl.maximum(best, 1.0 - nobody)
    inside = (place < many - 1) | (beyond <= best) | (least == 0.0)
    if ((many > 0) & inside) | empty_is_best:
        t = tl.where(none >= best, _NOTHING, t)
        best = tl.maximum(best, none)
        tl.store(tie_ptr + one, tl.sum(tl.where(i == ties - 1, tied, 0), axis=0))
        tl.store(base + THRESHOLD, t)
        tl.store(base + WINDOW, 1e-9)
        tl.store(base + SCORE, best)
        rounds = n * least * 2e-14 + least * least * least * least * r1
        tl.store(base + ERROR, best * (1e-9 + rounds) + 1e-11)
        tl.store(base + LOSS, 0.0)
        tl.store(mode_ptr + one, SOLVED)
    else:
        tl.store(mode_ptr + one, WRITE)


@triton.jit
def solve(
    state_ptr, mode_ptr, counter_ptr, left_ptr, list_ptr, place_ptr, tie_ptr, node_ptr,
    n, chunks,
    KIND: tl.constexpr, CHUNKS: tl.constexpr, WIDTH: tl.constexpr,
    COLUMNS: tl.constexpr, SIZE: tl.constexpr, COUNT_OF_NODES: tl.constexpr,
    BEFORE: tl.constexpr, SHORT: tl.constexpr,
):  # fmt: skip
    """Choose the best cut of the list of a faint or small map (Lemma 22)."""
    one = tl.program_id(0).to(tl.int64)
    if tl.load(mode_ptr + one) != LIST:
        return
    base = state_ptr + one * WIDTH
    every = left_ptr + one * COLUMNS * chunks
    many = tl.load(counter_ptr + 2 * one + 1)
    if many > SIZE:  # more than were thought to be, as rounding may have it
        tl.store(mode_ptr + one, WRITE)
    elif many <= SHORT:
        _solved(base, one, mode_ptr, tie_ptr, list_ptr, place_ptr, node_ptr, every,
                many, n, chunks, KIND, CHUNKS, SHORT, SIZE, COUNT_OF_NODES, BEFORE,
                16)  # fmt: skip
    else:
        _solved(base, one, mode_ptr, tie_ptr, list_ptr, place_ptr, node_ptr, every,
                many, n, chunks, KIND, CHUNKS, SIZE, SIZE, COUNT_OF_NODES, BEFORE,
                2 if SIZE > 1024 else 4)  # fmt: skip
