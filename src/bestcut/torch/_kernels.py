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
MARKS = 4  # whole numbers
NODES = 32  # of Gauss and Laguerre
LEFT = 8  # sums that a program of `turn` leaves
LONGEST = 1024  # list of pixels of a faint map
EVEN = 128  # nodes of Gauss and Legendre, for faint and small maps
FEW = 64  # of these for short lists

# What is kept of a map.
THRESHOLD = tl.constexpr(0)  # of the next turn
WINDOW = tl.constexpr(1)  # how far from it pixels are counted
TOTALS = tl.constexpr(2)  # sums of p and p² over the map: two numbers
DENSE = tl.constexpr(4)  # pixels for each unit of probability near the threshold
LIST_FROM = tl.constexpr(5)  # the least probability that is listed
SCORE = tl.constexpr(6)
ERROR = tl.constexpr(7)
COUNT = tl.constexpr(8)
WRITTEN = tl.constexpr(9)  # the threshold of the mask
LOSS = tl.constexpr(10)  # what the best mask may have more
BAD = tl.constexpr(11)  # whether there are pixels that are no probabilities
TIE = tl.constexpr(12)  # of pixels that tie at the cut of a list: the last one's place

# What is marked of a map.
MODE = tl.constexpr(0)
FINISHED = tl.constexpr(1)  # programs that have left their sums
MANY = tl.constexpr(2)  # pixels that are listed

# What a map does next: its mode.
DONE = tl.constexpr(0)
READ = tl.constexpr(1)
WRITE = tl.constexpr(2)
LIST = tl.constexpr(3)  # have its largest pixels listed
LISTED = tl.constexpr(4)  # be solved: the first read listed them
SOLVED = tl.constexpr(5)  # be written as the list says

_GOOD = tl.constexpr(8e-10)
_UNKNOWN = tl.constexpr(1e300)
_LEAST = tl.constexpr(400.0)  # predicted and expected positives that sums want
_FAINT = tl.constexpr(400.0)  # expected positives of maps that a list may tell
_EMPTY = tl.constexpr(60.0)  # expected positives of maps that may best have no mask
_FLOAT = tl.constexpr(6e-8)  # relative rounding of a float32
_FAR = tl.constexpr(1 << 62)  # beyond every map
_NOTHING = tl.constexpr(2.0)  # a threshold that no pixel reaches


@triton.jit
def _two(a, b, c, d):
    return a + c, b + d


@triton.jit
def sample(
    p_ptr, state_ptr, marks_ptr, n, b2,
    SAMPLED: tl.constexpr, STEPS: tl.constexpr, WIDTH: tl.constexpr,
    ALL_LISTED: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """Find a threshold from some pixels of each map, and begin its state."""
    one = tl.program_id(0).to(tl.int64)
    base = state_ptr + one * WIDTH
    marks = marks_ptr + one * 4
    tl.store(marks + FINISHED, 0)
    tl.store(marks + MANY, 0)
    tl.store(base + LOSS, _UNKNOWN)
    if ALL_LISTED:
        tl.store(marks + MODE, LIST)
        tl.store(base + LIST_FROM, -1.0)
        tl.store(base + BAD, 0.0)
    else:
        i = tl.arange(0, SAMPLED)
        if n > SAMPLED:
            # One pixel of every stretch, at places that no pattern follows.
            stretch = n // SAMPLED
            mixed = i.to(tl.uint32) * 747796405 + 277803737
            mixed = ((mixed >> 15) ^ mixed) * 2654435769
            mixed = (mixed >> 16) ^ mixed
            at = i.to(tl.int64) * stretch + (mixed % stretch.to(tl.uint32)).to(tl.int64)
        else:
            at = i.to(tl.int64)
        x = tl.load(p_ptr + one * n + at, mask=at < n, other=0.0).to(tl.float32)
        x = tl.where((x >= 0.0) & (x <= 1.0), x, 0.0)
        total = tl.sum(x, axis=0)
        t = total / SAMPLED
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
        dense = near * (n / SAMPLED) / (2.0 * window)
        tl.store(base + DENSE, dense.to(tl.float64))
        tl.store(base + WINDOW, window.to(tl.float64))
        # The first read lists pixels that are far above the others, if these are faint
        # enough for two powers: their cubes are below least² times their sum.
        taken = tl.sum(inside, axis=0) * (n / SAMPLED)
        highest = tl.where(taken < 512.0, t, 1.0)
        others = tl.where(x > highest, 0.0, x)
        expected = tl.sum(others, axis=0) * (n / SAMPLED)
        least = tl.maximum(4.0 * tl.max(others, axis=0), 1e-12)
        faint = (expected < _FAINT) & (least * least * expected < 1e-11)
        if WHOLE:
            least = tl.where(faint, least, _NOTHING)
            tl.store(base + LIST_FROM, least.to(tl.float64))
        else:
            tl.store(base + LIST_FROM, _NOTHING)
        tl.store(marks + MODE, READ)


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
def _size(k, k1, a1, b2, KIND: tl.constexpr):
    """Return s of Lemma 22: the mean of what the score divides by."""
    size = k + b2 * a1
    if KIND == 1:
        size = k + a1 - k1
    return size


@triton.jit
def _drift(size, t, k1, k2, a1, a2, b2, KIND: tl.constexpr):
    """Return what one pixel near t moves the threshold by, times s² (Lemma 22)."""
    if KIND == 0:
        moves = b2 * (a1 - a2) * t / size - (k1 - k2) / size + t * (1.0 - t)
        drift = 2.0 * b2 * tl.abs(moves)
    else:
        outside = (a1 - k1) - (a2 - k2)
        drift = 2.0 * t * (1.0 - t) * (1.0 - t) * (outside / size + t)
    return drift + 16.0 * tl.maximum(b2, 1.0) * t / size


@triton.jit
def _list_pixels(
    source, start, length, least, most, marks, room,
    BLOCK: tl.constexpr, LOOPS: tl.constexpr, ROOM: tl.constexpr,
):  # fmt: skip
    """List the pixels of at least some probability; return sums of p and p².

    `most` has the largest pixel in each place of the blocks: others are not read.
    """
    sums = tl.zeros([BLOCK], tl.float64)
    squares = tl.zeros([BLOCK], tl.float64)
    many = marks + MANY + tl.zeros([BLOCK], tl.int32)
    for i in range(LOOPS):
        at = i * BLOCK + tl.arange(0, BLOCK)
        there = (most >= least) & (at < length)
        x = tl.load(source + at, mask=there, other=0.0).to(most.dtype)
        chosen = there & (x >= least)
        place = tl.atomic_add(many, 1, mask=chosen, sem="relaxed")
        fits = chosen & (place < ROOM)
        tl.store(room + place, x.to(tl.float64), mask=fits)
        tl.store(room + ROOM + place, (start + at).to(tl.float64), mask=fits)
        y = tl.where(chosen, x, 0.0).to(tl.float64)
        sums += y
        squares += y * y
    return tl.sum(sums, axis=0), tl.sum(squares, axis=0)


@triton.jit
def _write_solved(
    source, target, edge, tie, length,
    BLOCK: tl.constexpr, LOOPS: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    """Write the mask of a list: of pixels that tie at its cut, the first ones."""
    for i in range(LOOPS):
        at = i * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            x = tl.load(source + at).to(edge.dtype)
        else:
            x = tl.load(source + at, mask=at < length, other=0.0).to(edge.dtype)
        above = (x > edge) | ((x == edge) & (at <= tie))
        if EVEN:
            tl.store(target + at, above.to(tl.uint8))
        else:
            tl.store(target + at, above.to(tl.uint8), mask=at < length)


@triton.jit
def _conclude(
    base, marks, every, node_ptr, chunks, mode, edge,
    KIND: tl.constexpr, FIRST: tl.constexpr, LOOPS: tl.constexpr,
    CHUNKS: tl.constexpr, COUNT_OF_NODES: tl.constexpr, ROOM: tl.constexpr,
    WHOLE: tl.constexpr,
):  # fmt: skip
    """Find what the sums of a map say: its score, the next t, and what is proved."""
    b2 = tl.load(node_ptr)
    empty = tl.load(node_ptr + 1)
    t = tl.load(base + THRESHOLD)
    window = tl.load(base + WINDOW)
    k = _left(every, 0, chunks, CHUNKS)
    s1 = _left(every, 1, chunks, CHUNKS)
    s2 = _left(every, 2, chunks, CHUNKS)
    some = tl.maximum(k, 1.0)
    if FIRST:
        a1 = _left(every, 3, chunks, CHUNKS) + _left(every, 5, chunks, CHUNKS)
        a2 = _left(every, 4, chunks, CHUNKS) + _left(every, 6, chunks, CHUNKS)
        tl.store(base + TOTALS, a1)
        tl.store(base + TOTALS + 1, a2)
        tl.store(base + BAD, _left(every, 7, chunks, CHUNKS))
        # About: the next turn has them as they are.
        s3 = s2 * s1 / some
        s4 = s3 * s1 / some
        a3 = s3
        a4 = s4
        rounds = _FLOAT * (2 + 2 * LOOPS)
    else:
        a1 = tl.load(base + TOTALS)
        a2 = tl.load(base + TOTALS + 1)
        s3 = _left(every, 3, chunks, CHUNKS)
        s4 = _left(every, 4, chunks, CHUNKS)
        a3 = _left(every, 5, chunks, CHUNKS)
        a4 = _left(every, 6, chunks, CHUNKS)
        rounds = _FLOAT * 2
    j = tl.arange(0, COUNT_OF_NODES)
    node = tl.load(node_ptr + 2 + j)
    weight = tl.load(node_ptr + 2 + COUNT_OF_NODES + j)
    score, again = _over_nodes(
        some, s1, s2, s3, s4, a1, a2, a3, a4, t, b2, node, weight, KIND
    )
    size = _size(some, s1, a1, b2, KIND)
    nothing = a1 <= 0.0
    again = tl.where(nothing, _NOTHING, tl.minimum(tl.maximum(again, 0.0), 1.0))
    apart = tl.abs(again - t)
    drift = _drift(size, again, s1, s2, a1, a2, b2, KIND)
    steep = tl.maximum(b2, 1.0)
    few = size < steep * _LEAST
    if FIRST:
        dense = tl.load(base + DENSE)
    else:
        near = _left(every, 7, chunks, CHUNKS)
        dense = near / (2.0 * window)
    # The best score is higher than that of the cut at t, by what the pixels between
    # pay, and so is the best threshold. About half of that is wrong, at most.
    higher = dense * apart * apart / (2.0 * size)
    again = tl.where(nothing, again, tl.minimum(again + higher, 1.0))
    wrong_by = higher / 2.0 + again / (size * size) + rounds * again
    soon = dense * wrong_by * wrong_by / size <= _GOOD
    # No more than ROOM pixels have as much; are there any, to speak of?
    list_from = a1 / ROOM
    heavy = a2 > list_from * a1
    faint = few | (heavy & (soon == 0)) | ((empty != 0.0) & (a1 < _EMPTY))
    if FIRST:
        done = mode != mode
        listed_from = tl.load(base + LIST_FROM)
        many = tl.load(marks + MANY, cache_modifier=".cg")
        quick = (listed_from <= list_from) & (many <= ROOM)
        faint = faint | (heavy & quick)
        tl.store(base + LIST_FROM, tl.where(quick, listed_from, list_from))
        tl.store(marks + MANY, tl.where(quick, many, 0))
        listing = tl.where(quick, LISTED, LIST)
    else:
        # Lemma 22 (d): no cut in the window is much better, and none beyond it is.
        rest = tl.maximum(size - near, 1.0)
        reach = apart + drift * near * size / (rest * rest * rest)
        inside = reach + 2.0 * drift / size <= window * (1.0 - near / rest)
        loss = (1.0 + b2) * reach * near / rest
        loss = tl.where(inside & (few == 0) & (faint == 0), loss, _UNKNOWN)
        loss = tl.where(nothing, 0.0, loss)
        done = (mode == WRITE) & (loss <= _GOOD)
        soon = soon | (mode == WRITE)
        score = tl.where(k > 0.0, score, tl.where(nothing, empty, 0.0))
        # Lemma 22 (c): powers that are left out, and what float32 sums round.
        out = 48.0 * (a4 / size + 1.0) / (size * size * size * size)
        out = out * steep * steep * steep * steep * steep
        out = out + steep * (3.0 * _FLOAT * (LOOPS + 8)) / size
        tl.store(base + LOSS, loss)
        tl.store(base + SCORE, score)
        tl.store(base + ERROR, score * (out + 1e-12) + 1e-13)
        tl.store(base + COUNT, k)
        tl.store(base + WRITTEN, t)
        tl.store(base + LIST_FROM, list_from)
        listing = LIST
    to_list = faint & (a1 < _FAINT) & (nothing == 0) & WHOLE
    after = tl.where(done, DONE, tl.where(soon, WRITE, READ))
    tl.store(marks + MODE, tl.where(to_list, listing, after))
    tl.store(base + THRESHOLD, again.to(edge.dtype).to(tl.float64))
    tl.store(base + WINDOW, 1.5 * wrong_by + 3.0 * drift / size + 1e-12)


@triton.jit
def turn(
    p_ptr, mask_ptr, state_ptr, marks_ptr, left_ptr, list_ptr, node_ptr, n, chunks,
    KIND: tl.constexpr, FIRST: tl.constexpr, LAST: tl.constexpr, DOUBLE: tl.constexpr,
    BLOCK: tl.constexpr, LOOPS: tl.constexpr, CHUNKS: tl.constexpr,
    WIDTH: tl.constexpr, COUNT_OF_NODES: tl.constexpr, COLUMNS: tl.constexpr,
    EVEN: tl.constexpr, ROOM: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """Read each map once: sum, write its mask if it is time, and find the next t."""
    one = (tl.program_id(0) // chunks).to(tl.int64)
    part = tl.program_id(0) % chunks
    marks = marks_ptr + one * 4
    mode = tl.load(marks + MODE)
    base = state_ptr + one * WIDTH
    work = tl.float64 if DOUBLE else tl.float32
    start = part.to(tl.int64) * (BLOCK * LOOPS)
    length = tl.minimum(n - start, BLOCK * LOOPS).to(tl.int32)
    source = p_ptr + one * n + start
    target = mask_ptr + one * n + start
    edge = tl.load(base + THRESHOLD).to(work)
    if LAST:
        if mode == SOLVED:
            tie = tl.load(base + TIE).to(tl.int64) - start
            _write_solved(source, target, edge, tie, length, BLOCK, LOOPS, EVEN)
        elif mode == READ:
            mode = WRITE
    if (mode != READ) & (mode != WRITE):
        return
    low = tl.load(base + LIST_FROM).to(work)
    width = tl.load(base + WINDOW).to(work)
    begin = tl.minimum(low, 1.0)  # no less than what is added
    count = tl.zeros([BLOCK], tl.int32)
    near = tl.zeros([BLOCK], tl.int32)
    least = tl.zeros([BLOCK], work)
    most = tl.zeros([BLOCK], work)
    k1 = tl.full([BLOCK], 0.0 if FIRST else 1.0, work)
    k1_low = tl.zeros([BLOCK], work)
    k2 = tl.zeros([BLOCK], work)
    k3 = tl.zeros([BLOCK], work)
    k4 = tl.zeros([BLOCK], work)
    p1 = tl.zeros([BLOCK], work) + begin
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
            x = tl.load(source + at, mask=at < length, other=0.0).to(work)
            above = (x >= edge) & (at < length)
        if not FIRST and mode == WRITE:
            if EVEN:
                tl.store(target + at, above.to(tl.uint8))
            else:
                tl.store(target + at, above.to(tl.uint8), mask=at < length)
        y = tl.where(above, x, 0.0)
        count += above.to(tl.int32)
        above_square = y * y
        k2 += above_square
        if FIRST:
            k1 += y
            least = tl.minimum(least, x)
            most = tl.maximum(most, x)
            faint = tl.where(x >= low, 0.0, x)  # a NaN stays one
            p1, p1_low = _added(p1, p1_low, faint)
            p2 += faint * faint
        else:
            k1, k1_low = _added(k1, k1_low, y)
            near += (tl.abs(x - edge) <= width).to(tl.int32)
            square = x * x
            k3 += above_square * y
            k4 += above_square * above_square
            p3 += square * x
            p4 += square * square
    left = left_ptr + one * COLUMNS * chunks + part
    tl.store(left, tl.sum(count, axis=0).to(tl.float64))
    tl.store(left + 2 * chunks, tl.sum(k2.to(tl.float64), axis=0))
    if FIRST:
        tl.store(left + chunks, tl.sum(k1.to(tl.float64), axis=0))
        total = _whole(p1, p1_low, begin)
        highest = tl.max(most, axis=0)
        wrong = (highest > 1.0) | (tl.min(least, axis=0) < 0.0)
        wrong = wrong | (total != total)  # as a NaN makes it
        tl.store(left + 3 * chunks, total)
        tl.store(left + 4 * chunks, tl.sum(p2.to(tl.float64), axis=0))
        listed = 0.0 * total
        squares = 0.0 * total
        if highest >= low:
            listed, squares = _list_pixels(
                source, start, length, low, most, marks, list_ptr + one * 2 * ROOM,
                BLOCK, LOOPS, ROOM,
            )  # fmt: skip
        tl.store(left + 5 * chunks, listed)
        tl.store(left + 6 * chunks, squares)
        tl.store(left + 7 * chunks, wrong.to(tl.float64))
    else:
        tl.store(left + chunks, _whole(k1, k1_low, 1.0))
        tl.store(left + 3 * chunks, tl.sum(k3.to(tl.float64), axis=0))
        tl.store(left + 4 * chunks, tl.sum(k4.to(tl.float64), axis=0))
        tl.store(left + 5 * chunks, tl.sum(p3.to(tl.float64), axis=0))
        tl.store(left + 6 * chunks, tl.sum(p4.to(tl.float64), axis=0))
        tl.store(left + 7 * chunks, tl.sum(near, axis=0).to(tl.float64))
    # The last program of a map to come here has everything that the others left.
    tl.debug_barrier()
    before = tl.atomic_add(marks + FINISHED, 1, sem="acq_rel")
    if before == chunks - 1:
        tl.store(marks + FINISHED, 0)
        every = left_ptr + one * COLUMNS * chunks
        _conclude(base, marks, every, node_ptr, chunks, mode, edge, KIND, FIRST, LOOPS,
                  CHUNKS, COUNT_OF_NODES, ROOM, WHOLE)  # fmt: skip


@triton.jit
def collect(
    p_ptr, state_ptr, marks_ptr, left_ptr, list_ptr, n, chunks,
    DOUBLE: tl.constexpr, BLOCK: tl.constexpr, LOOPS: tl.constexpr,
    WIDTH: tl.constexpr, COLUMNS: tl.constexpr, ROOM: tl.constexpr,
):  # fmt: skip
    """List the largest pixels of faint maps, and sum powers of the others."""
    one = (tl.program_id(0) // chunks).to(tl.int64)
    part = tl.program_id(0) % chunks
    marks = marks_ptr + one * 4
    if tl.load(marks + MODE) != LIST:
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
    left = left_ptr + one * COLUMNS * chunks + part
    tl.store(left, _whole(r1, r1_low, begin))
    tl.store(left + chunks, tl.sum(r2.to(tl.float64), axis=0))
    tl.store(left + 2 * chunks, tl.sum(r3.to(tl.float64), axis=0))
    tl.store(left + 3 * chunks, tl.sum(r4.to(tl.float64), axis=0))
    highest = tl.max(most, axis=0)
    if (highest > 1.0) | (tl.min(lowest, axis=0) < 0.0) | (tl.sum(wrong, axis=0) > 0):
        tl.store(base + BAD, 1.0)
    if highest >= least:
        _list_pixels(source, start, length, least, most, marks,
                     list_ptr + one * 2 * ROOM, BLOCK, LOOPS, ROOM)  # fmt: skip


@triton.jit
def _solved(
    base, marks, room, node_ptr, every, many, n, chunks,
    KIND: tl.constexpr, CHUNKS: tl.constexpr, SIZE: tl.constexpr, ROOM: tl.constexpr,
    COUNT_OF_NODES: tl.constexpr, BEFORE: tl.constexpr, BESIDE: tl.constexpr,
    DOUBLE: tl.constexpr,
):  # fmt: skip
    """Score every cut of a list of at most SIZE pixels, and choose the best."""
    # The first read leaves two powers of what is not listed, `collect` four.
    quick = tl.load(marks + MODE) == LISTED
    skip = tl.where(quick, 3 * chunks, 0)
    r1 = _left(every + skip, 0, chunks, CHUNKS)
    r2 = _left(every + skip, 1, chunks, CHUNKS)
    r3 = tl.where(quick, 0.0, _left(every, 2, chunks, CHUNKS))
    r4 = tl.where(quick, 0.0, _left(every, 3, chunks, CHUNKS))
    b2 = tl.load(node_ptr)
    empty = tl.load(node_ptr + 1)
    i = tl.arange(0, SIZE)
    work = tl.float64 if DOUBLE else tl.float32
    listed = tl.load(room + i, mask=i < many, other=0.0).to(work)
    places = tl.load(room + ROOM + i, mask=i < many, other=0.0).to(tl.int64)
    p = tl.sort(listed, descending=True).to(tl.float64)
    k = (i + 1).to(tl.float64)[:, None]
    score = tl.zeros([SIZE], tl.float64)
    hits = tl.cumsum(p, axis=0)
    total = tl.sum(p, axis=0)
    least = tl.maximum(tl.load(base + LIST_FROM), 0.0)
    beyond = 0.0 * total  # score of all that is listed and one pixel more
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
        last = tl.sum(tl.where(i == ties - 1, tied, 0), axis=0)
        tl.store(base + TIE, last.to(tl.float64))
        tl.store(base + THRESHOLD, t)
        tl.store(base + WRITTEN, t)
        tl.store(base + COUNT, tl.where(t < _NOTHING, place + 1.0, 0.0))
        tl.store(base + SCORE, best)
        powers = tl.where(quick, least * least, least * least * least * least) * r1
        tl.store(base + ERROR, best * (1e-9 + n * least * 2e-14 + powers) + 1e-11)
        tl.store(base + LOSS, 0.0)
        tl.store(marks + MODE, SOLVED)
    else:
        tl.store(marks + MODE, WRITE)


@triton.jit
def solve(
    state_ptr, marks_ptr, left_ptr, list_ptr, node_ptr, n, chunks,
    KIND: tl.constexpr, CHUNKS: tl.constexpr, WIDTH: tl.constexpr,
    COLUMNS: tl.constexpr, ROOM: tl.constexpr, COUNT_OF_NODES: tl.constexpr,
    BEFORE: tl.constexpr, FEW_NODES: tl.constexpr, BEFORE_FEW: tl.constexpr,
    SHORT: tl.constexpr, DOUBLE: tl.constexpr,
):  # fmt: skip
    """Choose the best cut of the list of a faint or small map (Lemma 22)."""
    one = tl.program_id(0).to(tl.int64)
    marks = marks_ptr + one * 4
    mode = tl.load(marks + MODE)
    if (mode != LIST) & (mode != LISTED):
        return
    base = state_ptr + one * WIDTH
    every = left_ptr + one * COLUMNS * chunks
    room = list_ptr + one * 2 * ROOM
    many = tl.load(marks + MANY)
    if many > ROOM:  # more than were thought to be, as rounding may have it
        tl.store(marks + MODE, WRITE)
    elif many <= SHORT:
        _solved(base, marks, room, node_ptr, every, many, n, chunks, KIND, CHUNKS,
                SHORT, ROOM, FEW_NODES, BEFORE_FEW, 32, DOUBLE)  # fmt: skip
    else:
        _solved(base, marks, room, node_ptr, every, many, n, chunks, KIND, CHUNKS,
                ROOM, ROOM, COUNT_OF_NODES, BEFORE, 2 if ROOM > 1024 else 4,
                DOUBLE)  # fmt: skip
