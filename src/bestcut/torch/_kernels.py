"""Masks on a GPU: the best cut of a list or of a map, and two reads of large maps.

For F-beta and Jaccard the best mask holds the pixels of probability at least t, where t
is a share of the best score. Lemma 22 says which pixels are in the best mask, and which
are not, all but those in a narrow *window* around t. These are *open*: every cut among
them is scored.

1. `sample` finds t from some pixels, one program a map.
2. `count` reads the map, and finds the window from what is above t.
3. `write` reads it again: it writes the mask of the pixels outside the window, sums
   their powers, and lists the open pixels.
4. `finish`, one program a map, scores every cut of the list, and completes the mask. If
   the list does not prove its cut to be the best, it does the same with the whole map.

Small maps need only `finish`. Nothing waits for the host. All sums are taken in a fixed
order, so that results are the same bit for bit: the last program of a map to finish
adds up what the others left, and lists are sorted.
"""

# mypy: ignore-errors
# Triton compiles these functions from their source: they are written in its language.

from __future__ import annotations

import triton
import triton.language as tl

STATE = 24  # numbers that are kept of a map, see the constants below
MARKS = 2  # whole numbers
NODES = 32  # of the rule for integrals
SUMS = 9  # numbers that a program of `count` or `write` leaves

# What is kept of a map.
THRESHOLD = tl.constexpr(0)  # that `count` reads with
DENSE = tl.constexpr(1)  # pixels for each unit of probability near it
LOW = tl.constexpr(2)  # the window: open pixels are above LOW,
HIGH = tl.constexpr(3)  # and at most HIGH
TOTAL = tl.constexpr(4)  # sum of p
ABOVE = tl.constexpr(5)  # pixels above the window, and their powers 1 to 4
BELOW = tl.constexpr(10)  # powers 2 to 4 of pixels below it
SCORE = tl.constexpr(14)
ERROR = tl.constexpr(15)
GAP = tl.constexpr(16)
COUNT = tl.constexpr(17)
CUT = tl.constexpr(18)  # the smallest probability in the mask
BAD = tl.constexpr(19)  # whether there are pixels that are no probabilities
TARGET = tl.constexpr(20)  # the number of pixels that a budget asks for, or -1
SETTLED = tl.constexpr(21)  # whether the window is known

# What is marked of a map.
FINISHED = tl.constexpr(0)  # programs that have left their sums
LISTED = tl.constexpr(1)  # pixels in the list

_LEAST = tl.constexpr(400.0)  # size, per unit of beta², from which four powers do
_FOLLOWED = tl.constexpr(100.0)  # size, up to which the rule for integrals sees them
_EMPTY = tl.constexpr(60.0)  # expected positives of maps that may have none
_PROVED = tl.constexpr(1e-12)  # what rounding leaves open between cuts that are scored
_UNKNOWN = tl.constexpr(1e300)
_FLOAT = tl.constexpr(6e-8)  # relative rounding of a float32
_NOTHING = tl.constexpr(2.0)  # a threshold that no pixel reaches
_ALL = tl.constexpr(-1.0)  # one that every pixel reaches


@triton.jit
def _probabilities(map_ptr, list_ptr, n, listed, at):
    """Return pixels in double precision; 0 for what is no probability.

    They are `n` of the map, or `listed` of the list: one of the two numbers is 0. So
    all functions are compiled once, though maps and lists have different types.
    """
    x = tl.load(map_ptr + at, mask=at < n, other=0.0).to(tl.float64)
    x += tl.load(list_ptr + at, mask=at < listed, other=0.0)
    return tl.where((x > 0.0) & (x <= 1.0), x, 0.0)


@triton.jit
def _gone(y):
    """Return 1 - exp(-y), where a difference would lose all digits for small y."""
    series = y * (1.0 - y / 2 * (1.0 - y / 3 * (1.0 - y / 4 * (1.0 - y / 5 * (
        1.0 - y / 6 * (1.0 - y / 7 * (1.0 - y / 8 * (1.0 - y / 9))))))))  # fmt: skip
    return tl.where(y < 0.1, series, 1.0 - tl.exp(-y))


@triton.jit
def _size(k, k1, total, b2, KIND: tl.constexpr):
    """Return s of Lemma 22: the mean of what the score divides by."""
    size = k + b2 * total
    if KIND == 1:
        size = k + total - k1
    return tl.maximum(size, 1e-30)


@triton.jit
def _share(hits, k, total, b2):
    """Return about the share of the score that is its own threshold (Lemma 22)."""
    return hits / tl.maximum(k + b2 * total, 1e-300)


@triton.jit
def _key(t, DOUBLE: tl.constexpr):
    """Return a whole number that orders probabilities as they are."""
    if DOUBLE:
        key = t.to(tl.int64, bitcast=True)
    else:
        key = t.to(tl.float32).to(tl.int32, bitcast=True).to(tl.int64)
    return tl.where(t < 0.0, -1, key)


@triton.jit
def _value(key, DOUBLE: tl.constexpr):
    """Return the probability of a key; -1 stands for less than all of them."""
    some = tl.maximum(key, 0)
    if DOUBLE:
        t = some.to(tl.float64, bitcast=True)
    else:
        t = some.to(tl.int32).to(tl.float32, bitcast=True).to(tl.float64)
    return tl.where(key < 0, _ALL, t)


@triton.jit(noinline=True)
def _above(map_ptr, list_ptr, n, listed, t, SPAN: tl.constexpr):
    """Return how many pixels are above t, and their sum."""
    some = tl.zeros([SPAN], tl.int32)
    hits = tl.zeros([SPAN], tl.float64)
    for start in range(0, n + listed, SPAN):
        at = start + tl.arange(0, SPAN)
        x = _probabilities(map_ptr, list_ptr, n, listed, at)
        some += ((x > t) & (at < n + listed)).to(tl.int32)
        hits += tl.where(x > t, x, 0.0)
    return tl.sum(some.to(tl.int64), axis=0).to(tl.float64), tl.sum(hits, axis=0)


@triton.jit(noinline=True)
def _split(
    map_ptr, list_ptr, n, listed, low, high, open_ptr,
    SPAN: tl.constexpr, ROOM: tl.constexpr,
):  # fmt: skip
    """List the open pixels; return sums over those above, and over all others."""
    k = tl.zeros([SPAN], tl.int32)
    k1 = tl.zeros([SPAN], tl.float64)
    k2 = tl.zeros([SPAN], tl.float64)
    k3 = tl.zeros([SPAN], tl.float64)
    k4 = tl.zeros([SPAN], tl.float64)
    r1 = tl.zeros([SPAN], tl.float64)
    r2 = tl.zeros([SPAN], tl.float64)
    r3 = tl.zeros([SPAN], tl.float64)
    r4 = tl.zeros([SPAN], tl.float64)
    least = tl.full([SPAN], _NOTHING, tl.float64)
    many = 0 * n
    for start in range(0, n + listed, SPAN):
        at = start + tl.arange(0, SPAN)
        x = _probabilities(map_ptr, list_ptr, n, listed, at)
        y = tl.where(x > high, x, 0.0)
        square = y * y
        k += (x > high).to(tl.int32)
        least = tl.minimum(least, tl.where(x > high, x, _NOTHING))
        k1 += y
        k2 += square
        k3 += square * y
        k4 += square * square
        z = x - y
        square = z * z
        r1 += z
        r2 += square
        r3 += square * z
        r4 += square * square
        between = ((x > low) & (x <= high) & (at < n + listed)).to(tl.int32)
        some = tl.sum(between, axis=0)
        if some > 0:
            place = many + tl.cumsum(between, axis=0) - 1
            tl.store(open_ptr + place, x, mask=(between > 0) & (place < ROOM))
            many += some
    k = tl.sum(k.to(tl.int64), axis=0).to(tl.float64)
    return (
        many, tl.min(least, axis=0), k,
        tl.sum(k1, axis=0), tl.sum(k2, axis=0), tl.sum(k3, axis=0), tl.sum(k4, axis=0),
        tl.sum(r1, axis=0), tl.sum(r2, axis=0), tl.sum(r3, axis=0), tl.sum(r4, axis=0),
    )  # fmt: skip


@triton.jit(noinline=True)
def _closed(
    map_ptr, list_ptr, n, listed, high, size, b2, k1, k2, k3, k4, s1, s2, s3, s4,
    node_ptr, sums_ptr, KIND: tl.constexpr, NODES: tl.constexpr,
):  # fmt: skip
    """Write log G of Lemma 22 (log G_R for Jaccard) and A at nodes.

    Pixels are multiplied one by one, and of others the sums of powers are known.
    """
    j = tl.arange(0, NODES)
    _log_z, w, _weight = _rule(node_ptr, size, b2, NODES)
    log_g = tl.zeros([32, NODES], tl.float64)
    a = tl.zeros([32, NODES], tl.float64)
    for start in range(0, n + listed, 512):
        factor = tl.full([32, NODES], 1.0, tl.float64)
        slope = tl.zeros([32, NODES], tl.float64)
        for i in range(16):
            at = start + i * 32 + tl.arange(0, 32)
            x = _probabilities(map_ptr, list_ptr, n, listed, at)
            hit = tl.where(x > high, x, 0.0)
            if KIND == 0:
                left = tl.maximum(1.0 - x[:, None] * w[None, :], 1e-18)
                slope = slope * left + factor * hit[:, None]
            else:
                left = tl.maximum(1.0 - (x - hit)[:, None] * w[None, :], 1e-18)
            factor *= left
        log_g += tl.log(factor)
        a += slope / factor
    powers = w * (s1 + w * (s2 / 2 + w * (s3 / 3 + w * s4 / 4)))
    tl.store(sums_ptr + j, tl.sum(log_g, axis=0) - powers)
    powers = k1 + w * (k2 + w * (k3 + w * k4))
    tl.store(sums_ptr + NODES + j, tl.sum(a, axis=0) + powers)
    tl.debug_barrier()


@triton.jit(noinline=True)
def _rank(list_ptr, ranked_ptr, many):
    """Write a list in descending order: each value to the number of those before it.

    `tl.sort` compiles to ten times as much code, and takes as long for a short list.
    """
    tl.debug_barrier()
    for first in range(0, many, 64):
        i = first + tl.arange(0, 64)
        x = tl.load(list_ptr + i, mask=i < many, other=0.0)
        before = tl.zeros([64, 64], tl.int32)
        for other in range(0, many, 64):
            j = other + tl.arange(0, 64)
            y = tl.load(list_ptr + j, mask=j < many, other=-1.0)
            tied = (y[None, :] == x[:, None]) & (j[None, :] < i[:, None])
            before += ((y[None, :] > x[:, None]) | tied).to(tl.int32)
        tl.store(ranked_ptr + tl.sum(before, axis=1), x, mask=i < many)
    tl.debug_barrier()


@triton.jit
def _allowed(score, count, fewest, most):
    """Make cuts that a budget forbids worse, the farther they are from it."""
    apart = tl.maximum(tl.maximum(fewest - count, count - most), 0.0)
    return tl.where(apart > 0.0, -apart, score)


@triton.jit
def _rule(node_ptr, size, b2, NODES: tl.constexpr):
    """Return log z, w and weights of a rule for integrals over z from 0 to 1.

    z = (1 - y²)^c, with y of Gauss and Legendre, and c such that nodes see no more of
    integrands of about exp(-size (1 - z)) than they can follow.
    """
    j = tl.arange(0, NODES)
    c = tl.minimum(4.0, 1.0 / size * _FOLLOWED)
    log_y = tl.load(node_ptr + 2 + j)
    weight = c * tl.load(node_ptr + 2 + NODES + j) * tl.exp((c - 1.0) * log_y)
    return c * log_y, _gone(-b2 * c * log_y), weight


@triton.jit(noinline=True)
def _best_cut(
    v_ptr, m_ptr, entries, k, k1, sums_ptr, fewest, most, size, b2, node_ptr,
    KIND: tl.constexpr, NODES: tl.constexpr,
):  # fmt: skip
    """Score the cut before entries, and that after each; return the best one.

    Entry i stands for `m[i]` pixels of probability `v[i]`, in descending order. `log_g`
    and `a` are log G and A of Lemma 22 at the nodes, for the cut before entries.
    """
    log_z, w, weight = _rule(node_ptr, size, b2, NODES)
    j = tl.arange(0, NODES)
    log_g = tl.load(sums_ptr + j)
    a = tl.load(sums_ptr + NODES + j)
    if KIND == 0:
        weight *= 1.0 + b2
        best = tl.sum(weight * a * tl.exp(log_g + (k - 1.0 + b2) * log_z), axis=0)
    else:
        best = k1 * tl.sum(weight * tl.exp(log_g + (k - 1.0) * log_z), axis=0)
    best = _allowed(tl.where(k > 0.0, best, 0.0), k, fewest, most)
    place = 0 * entries - 1
    chosen = k
    for begin in range(0, entries, 64):
        i = begin + tl.arange(0, 64)
        v = tl.load(v_ptr + i, mask=i < entries, other=0.0)
        m = tl.load(m_ptr + i, mask=i < entries, other=0.0)
        count = k + tl.cumsum(m, axis=0)
        left = tl.maximum(1.0 - v[:, None] * w[None, :], 1e-18)
        if KIND == 0:
            gained = (m * v)[:, None] / left
            power = log_g[None, :] + (count - 1.0 + b2)[:, None] * log_z[None, :]
            part = tl.exp(power) * (a[None, :] + tl.cumsum(gained, axis=0))
            score = tl.sum(weight[None, :] * part, axis=1)
            a += tl.sum(gained, axis=0)
        else:
            logs = m[:, None] * tl.log(left)
            power = log_g[None, :] - tl.cumsum(logs, axis=0)
            power += (count - 1.0)[:, None] * log_z[None, :]
            score = tl.sum(weight[None, :] * tl.exp(power), axis=1)
            score *= k1 + tl.cumsum(m * v, axis=0)
            log_g -= tl.sum(logs, axis=0)
        k += tl.sum(m, axis=0)
        k1 += tl.sum(m * v, axis=0)
        score = tl.where(m > 0.0, _allowed(score, count, fewest, most), -_UNKNOWN)
        highest = tl.max(score, axis=0)
        if highest > best:
            best = highest
            place = tl.min(tl.where(score >= best, i, entries), axis=0)
            chosen = tl.sum(tl.where(i == place, count, 0.0), axis=0)
    return best, place, chosen, k1


@triton.jit(noinline=True)
def _best_of_crowd(
    map_ptr, list_ptr, n, low, high, k, k1, sums_ptr, fewest, most, size, b2,
    node_ptr, entry_ptr,
    KIND: tl.constexpr, DOUBLE: tl.constexpr, SPAN: tl.constexpr, SIZE: tl.constexpr,
    NODES: tl.constexpr,
):  # fmt: skip
    """Find the best cut among more open pixels than a list holds.

    Entries are bins of values: first wide ones, then narrower ones around the best cut,
    until each has one value. Then the pixels of one value are divided in the same way.
    """
    i = tl.arange(0, SIZE)
    entries = 0 * n + SIZE
    below = _key(low, DOUBLE)
    upto = _key(high, DOUBLE)
    shift = tl.full([], 1, tl.int64)
    v = tl.zeros([SIZE], tl.float64)
    m = tl.zeros([SIZE], tl.float64)
    best = 0.0 * b2
    place = tl.full([], -1, tl.int32)
    count = 0.0 * b2
    all_hits = 0.0 * b2
    while shift > 0:
        shift = 0 * shift
        while ((upto - below - 1) >> shift) >= SIZE - 2:
            shift += 1
        many = tl.zeros([SIZE], tl.int32)
        first = tl.zeros([SPAN], tl.float64)
        last = tl.zeros([SPAN], tl.float64)
        for start in range(0, n, SPAN):
            at = start + tl.arange(0, SPAN)
            x = _probabilities(map_ptr, list_ptr, n, 0, at)
            key = _key(x, DOUBLE)
            open = (x > low) & (x <= high) & (at < n)
            entry = 1 + ((upto - key) >> shift).to(tl.int32)
            entry = tl.where(key > upto, 0, tl.where(key <= below, SIZE - 1, entry))
            entry = tl.where(open, entry, 0)
            first += tl.where(open & (entry == 0), x, 0.0)
            last += tl.where(entry == SIZE - 1, x, 0.0)
            many += tl.histogram(entry, SIZE, mask=open)
        m = many.to(tl.float64)
        middle = upto - ((i - 1).to(tl.int64) << shift) - ((1 << shift) - 1) // 2
        v = _value(tl.maximum(middle, 0), DOUBLE)
        edge = tl.where(i == 0, tl.sum(first, axis=0), tl.sum(last, axis=0))
        v = tl.where((i == 0) | (i == SIZE - 1), edge / tl.maximum(m, 1.0), v)
        tl.debug_barrier()
        tl.store(entry_ptr + i, v)
        tl.store(entry_ptr + SIZE + i, m)
        best, place, count, all_hits = _best_cut(
            entry_ptr, entry_ptr + SIZE, entries, k, k1, sums_ptr, fewest, most, size,
            b2, node_ptr, KIND, NODES,
        )  # fmt: skip
        if shift > 0:
            top = upto
            near = tl.minimum(tl.maximum(place, 5), SIZE - 6).to(tl.int64)
            upto = top - ((near - 5) << shift)
            below = tl.maximum(below, top - ((near + 5) << shift))
    cut = tl.sum(tl.where(i == place, v, 0.0), axis=0)
    ties = tl.sum(tl.where(i == place, m, 0.0), axis=0)
    # The best cut may divide the pixels of this value, or of the next one.
    begin = tl.maximum(place, 0)
    for entry in range(begin, tl.minimum(begin + 2, SIZE)):
        value = tl.sum(tl.where(i == entry, v, 0.0), axis=0)
        all_ties = tl.sum(tl.where(i == entry, m, 0.0), axis=0)
        before = tl.sum(tl.where(i < entry, m, 0.0), axis=0)
        after = tl.sum(tl.where(i > entry, m, 0.0), axis=0)
        higher = tl.sum(tl.where(i < entry, m * v, 0.0), axis=0)
        lower = tl.sum(tl.where(i > entry, m * v, 0.0), axis=0)
        begin_tie = 0.0 * b2
        end_tie = all_ties
        inside = (entry > 0) & (entry < SIZE - 1) & (all_ties > 1.0)
        step = tl.where(inside, 2.0 + begin_tie, begin_tie)
        while step > 1.0:
            step = tl.ceil((end_tie - begin_tie) / (SIZE - 2))
            upper = tl.minimum(begin_tie + i.to(tl.float64) * step, end_tie)
            under = tl.minimum(begin_tie + (i - 1).to(tl.float64) * step, end_tie)
            parts = tl.where(i == 0, before + begin_tie, upper - under)
            parts = tl.where(i == SIZE - 1, after + all_ties - end_tie, parts)
            worth = tl.where(i == 0, higher + begin_tie * value, parts * value)
            rest = lower + (all_ties - end_tie) * value
            worth = tl.where(i == SIZE - 1, rest, worth)
            tl.debug_barrier()
            tl.store(entry_ptr + i, worth / tl.maximum(parts, 1.0))
            tl.store(entry_ptr + SIZE + i, parts)
            found, where, some, all_hits = _best_cut(
                entry_ptr, entry_ptr + SIZE, entries, k, k1, sums_ptr, fewest, most,
                size, b2, node_ptr, KIND, NODES,
            )  # fmt: skip
            taken = some - k - before
            if (found > best) & (taken >= 0.0) & (taken <= all_ties):
                best = found
                cut = value
                count = some
                ties = taken
            here = begin_tie + where.to(tl.float64) * step
            begin_tie = tl.maximum(begin_tie, tl.minimum(here - 4.0 * step, end_tie))
            end_tie = tl.minimum(end_tie, tl.maximum(here + 4.0 * step, begin_tie))
    return best, tl.where(count <= k, -1, 0), cut, count, ties, all_hits


@triton.jit(noinline=True)
def _log_nobody(map_ptr, list_ptr, n, listed, SPAN: tl.constexpr):
    """Return the logarithm of the chance that no pixel is positive."""
    logs = tl.zeros([SPAN], tl.float64)
    for start in range(0, n + listed, SPAN):
        at = start + tl.arange(0, SPAN)
        x = _probabilities(map_ptr, list_ptr, n, listed, at)
        logs += tl.log(tl.maximum(1.0 - x, 1e-300))
    return tl.sum(logs, axis=0)


@triton.jit
def _kept(base, which: tl.constexpr, whole, instead):
    """Return what the state has of pixels that are not listed, if some are not."""
    return tl.where(whole, instead, tl.load(base + which))


@triton.jit
def _decide(
    map_ptr, list_ptr, n, listed, base, open_ptr, node_ptr, fewest, most, loops,
    KIND: tl.constexpr, DOUBLE: tl.constexpr, SPAN: tl.constexpr, ROOM: tl.constexpr,
    SHORT: tl.constexpr, CROWD: tl.constexpr, NODES: tl.constexpr,
):  # fmt: skip
    """Find the best cut of a whole map, or of a list with sums over all other pixels.

    Write what is known of it into the state; return its threshold, how many of the
    pixels that tie there it takes, and whether it is proved to be the best.
    """
    b2 = tl.load(node_ptr)
    empty = tl.load(node_ptr + 1)
    steep = tl.maximum(b2, 1.0)
    zero = 0.0 * b2
    fewest = zero + fewest
    most = zero + most
    whole = n > 0
    sums_ptr = open_ptr + 2 * ROOM
    outer_least = _kept(base, CUT, whole, _NOTHING)
    outer_low = _kept(base, LOW, whole, _ALL)
    outer_high = _kept(base, HIGH, whole, _NOTHING)
    k0 = _kept(base, ABOVE, whole, 0.0)
    k01 = _kept(base, ABOVE + 1, whole, 0.0)
    k02 = _kept(base, ABOVE + 2, whole, 0.0)
    k03 = _kept(base, ABOVE + 3, whole, 0.0)
    k04 = _kept(base, ABOVE + 4, whole, 0.0)
    r02 = _kept(base, BELOW, whole, 0.0)
    r03 = _kept(base, BELOW + 1, whole, 0.0)
    r04 = _kept(base, BELOW + 2, whole, 0.0)
    some, within = _above(map_ptr, list_ptr, n, listed, zero + _ALL, SPAN)
    total = _kept(base, TOTAL, whole, within)
    r01 = tl.maximum(total - k01 - within, 0.0)
    # The largest share that a cut has of what it divides by, from below.
    t = zero
    k = zero
    size = zero + 1.0
    going = total > 0.0
    while going:
        some, hits = _above(map_ptr, list_ptr, n, listed, t, SPAN)
        k = k0 + some
        size = _size(k, k01 + hits, total, b2, KIND)
        again = _share(k01 + hits, k, total, b2)
        going = (again - t) * size > 0.1 * t
        t = tl.maximum(t, again)
    over = k > most
    target = tl.where(over, most, tl.where(k < fewest, fewest, -1.0))
    wide = zero + 1.0
    proved = total <= 0.0
    trying = total > 0.0
    best = zero
    cut = zero + _NOTHING
    count = zero
    ties = zero
    error = zero
    while trying:
        low = t / (1.0 + 6.0 * steep * wide / size)
        high = t * (1.0 + 8.0 * steep * wide / size)
        high = tl.where(size > 16.0 * steep * wide, high, _NOTHING)
        if target >= 0.0:
            # Bisect for the pixel that has this place; keys and values take turns.
            a = _key(outer_low, DOUBLE)
            b = _key(outer_high, DOUBLE)
            more = zero + (n + listed)
            less = zero
            step = tl.full([], 0, tl.int32)
            while (more - less > SHORT) & (b - a > 1):
                halfway = _key((_value(a, DOUBLE) + _value(b, DOUBLE)) / 2, DOUBLE)
                middle = tl.where(step % 2 == 0, halfway, (a + b) // 2)
                middle = tl.minimum(tl.maximum(middle, a + 1), b - 1)
                some, hits = _above(
                    map_ptr, list_ptr, n, listed, _value(middle, DOUBLE), SPAN
                )
                if k0 + some >= target:
                    a = middle
                    more = some
                else:
                    b = middle
                    less = some
                step += 1
            some, hits = _above(map_ptr, list_ptr, n, listed, _value(a, DOUBLE), SPAN)
            size = _size(k0 + some, k01 + hits, total, b2, KIND)
            if over:
                low = _value(a, DOUBLE)
                high = tl.maximum(high, _value(b, DOUBLE))
            else:
                share = _share(k01 + hits, k0 + some, total, b2)
                low = tl.minimum(
                    _value(a, DOUBLE), share / (1.0 + 6.0 * steep * wide / size)
                )
                high = _value(b, DOUBLE)
        low = tl.maximum(low, outer_low)
        high = tl.minimum(high, outer_high)
        # Open pixels of a map are put in order after it, those of a list already are.
        many, least, k, k1, k2, k3, k4, r1, r2, r3, r4 = _split(
            map_ptr, list_ptr, n, listed, low, high,
            open_ptr + tl.where(whole, ROOM, 0), SPAN, ROOM,
        )  # fmt: skip
        k += k0
        k1 += k01
        few = (size < steep * _LEAST) | ((empty != 0.0) & (total < _EMPTY))
        # What is not open, at the nodes: by factors, or by sums of powers.
        by_sums = tl.where(few, 0.0, 1.0)
        above = 1.0 if KIND == 0 else 0.0
        c1 = tl.where(few, k01, k1)
        c2 = k02 + by_sums * k2
        c3 = k03 + by_sums * k3
        c4 = k04 + by_sums * k4
        s4 = r04 + by_sums * r4 + above * c4
        _closed(
            map_ptr, list_ptr, tl.where(few, n, 0), tl.where(few, listed, 0), high,
            size, b2, c1, c2, c3, c4, r01 + by_sums * r1 + above * c1,
            r02 + by_sums * r2 + above * c2, r03 + by_sums * r3 + above * c3, s4,
            node_ptr, sums_ptr, KIND, NODES,
        )  # fmt: skip
        if many > ROOM:
            best, place, cut, count, ties, hits = _best_of_crowd(
                map_ptr, list_ptr, n, low, high, k, k1, sums_ptr, fewest, most, size,
                b2, node_ptr, open_ptr, KIND, DOUBLE, SPAN, CROWD, NODES,
            )  # fmt: skip
        else:
            if whole:
                _rank(open_ptr + ROOM, open_ptr, many)
            for first in range(0, many, SPAN):
                i = first + tl.arange(0, SPAN)
                tl.store(open_ptr + ROOM + i, 1.0 + 0.0 * i, mask=i < many)
            tl.debug_barrier()
            best, place, count, hits = _best_cut(
                open_ptr, open_ptr + ROOM, many, k, k1, sums_ptr, fewest, most,
                size, b2, node_ptr, KIND, NODES,
            )  # fmt: skip
            cut = tl.load(open_ptr + tl.maximum(place, 0))
            before, _higher = _above(map_ptr, open_ptr, 0 * n, many, cut, SPAN)
            ties = place + 1.0 - before
        if place < 0:
            cut = tl.minimum(least, outer_least)
            ties = zero + (n + listed)
        # Lemma 22: no cut after the window is better, and none before it.
        last = k + many
        if KIND == 0:
            share = best / (1.0 + b2)
            lowest = share / (1.0 + (steep - 1.0) / tl.maximum(last, 1.0))
            lowest = lowest / (1.0 + share / tl.maximum(hits, 1e-300))
        else:
            lowest = best / (1.0 + best)
        after = (low <= lowest) | (last >= most) | (low < 0.0)
        least_size = _size(k, k1, total, b2, KIND)
        highest = _share(k1, k, total, b2) * (1.0 + 4.0 * steep / least_size)
        before = (high >= highest) & (least_size > 8.0 * steep)
        before = before | (k == 0.0) | (k <= fewest)
        proved = after & before & (best >= 0.0)
        trying = (proved == 0) & (wide < 1e9) & whole
        wide *= 8.0
        # What powers leave out, and what sums in single precision round.
        steeper = steep * steep * steep * steep * steep
        out = 48.0 * ((s4 + many) / size + 1.0) / (size * size * size * size) * steeper
        out = tl.where(few, 0.0, out)
        if listed > 0:
            rounded = steep * steep / size * _FLOAT * (3 * loops + 24)
            fifth = 120.0 * steeper / (size * size * size * size * size)
            fifth = (
                tl.minimum(fifth, 1.0) * outer_low * outer_low * outer_low * outer_low
            )
            rounded *= tl.where(few, r02 / size, 1.0)
            out += rounded + tl.where(few, fifth * r01, 0.0)
        # Entries of a crowd at the ends of the window stand for several values.
        spread = tl.minimum(many * (high - low) * (high - low), r2)
        out += tl.where(many > ROOM, spread * steep * steep / size / size, 0.0)
        error = best * (out + 1e-12) + 1e-11
    nobody = zero + 1.0
    if (empty != 0.0) & (total < _EMPTY) & (fewest == 0.0):
        logs = _log_nobody(map_ptr, list_ptr, n, listed, SPAN)
        nobody = tl.exp(logs - r01 - r02 / 2 - r03 / 3 - r04 / 4)
        nobody *= tl.where(k0 > 0.0, 0.0, 1.0)
    else:
        nobody = tl.where(total > 0.0, 0.0, nobody)
    none = tl.where(fewest == 0.0, empty * nobody, 0.0)
    if (none >= best) | (total <= 0.0):
        best = none
        cut = tl.where(fewest > 0.0, zero, _NOTHING)
        ties = fewest
        count = fewest
        error = zero + 1e-12
    tl.store(base + SCORE, best)
    tl.store(base + ERROR, error)
    tl.store(base + GAP, tl.where(proved, _PROVED, _UNKNOWN))
    tl.store(base + COUNT, count)
    tl.store(base + CUT, cut)
    return cut, ties, proved


@triton.jit(do_not_specialize=["fewest", "most"])
def sample(
    p_ptr, state_ptr, marks_ptr, node_ptr, n, fewest, most,
    SAMPLED: tl.constexpr, STATE: tl.constexpr,
):  # fmt: skip
    """Find a threshold from some pixels of each map, and begin its state."""
    one = tl.program_id(0).to(tl.int64)
    base = state_ptr + one * STATE
    b2 = tl.load(node_ptr).to(tl.float32)
    i = tl.arange(0, SAMPLED)
    # One pixel of every stretch, at places that no pattern follows.
    stretch = tl.maximum(n // SAMPLED, 1)
    mixed = i.to(tl.uint32) * 747796405 + 277803737
    mixed = ((mixed >> 15) ^ mixed) * 2654435769
    mixed = (mixed >> 16) ^ mixed
    at = i.to(tl.int64) * stretch + (mixed % stretch.to(tl.uint32)).to(tl.int64)
    x = tl.load(p_ptr + one * n + at, mask=at < n, other=0.0).to(tl.float32)
    x = tl.where((x > 0.0) & (x <= 1.0), x, 0.0)
    each = n / tl.minimum(n, SAMPLED).to(tl.float64)
    total = tl.sum(x, axis=0)
    t = 0.0
    count = 0.0
    going = total > 0.0
    while going:
        count = tl.sum((x > t).to(tl.float32), axis=0)
        again = tl.sum(tl.where(x > t, x, 0.0), axis=0) / (count + b2 * total)
        going = again > t * 1.001
        t = tl.maximum(t, again)
    inside = (x > t).to(tl.float32)
    apart = inside * x - t * (inside + b2 * x)
    spread = tl.sqrt(tl.sum(apart * apart, axis=0)) / tl.maximum(
        count + b2 * total, 1e-30
    )
    # A budget asks for a place instead, if it seems to bind.
    expected = count * each
    target = tl.where(most < expected, most, -1.0)
    target = tl.where(fewest > expected, fewest, target)
    if target >= 0.0:
        low = 0.0
        high = 1.0
        for _ in range(24):
            t = (low + high) / 2
            more = tl.sum((x > t).to(tl.float32), axis=0) * each > target
            low = tl.where(more, t, low)
            high = tl.where(more, high, t)
        spread = t
        crowded = True  # which pixels that tie remain, however near one looks
        while crowded & (spread > 1e-6 * t):
            spread /= 2
            crowded = tl.sum((tl.abs(x - t) <= spread).to(tl.float32), axis=0) > 64.0
        spread /= 4
    window = tl.maximum(tl.minimum(4.0 * spread, t), 1e-4 * t + 1e-12)
    near = tl.sum((tl.abs(x - t) <= window).to(tl.float32), axis=0)
    tl.store(base + THRESHOLD, t.to(tl.float64))
    tl.store(base + DENSE, tl.maximum(near, 1.0) * each / (2.0 * window))
    tl.store(base + TARGET, target)
    tl.store(base + SETTLED, 0.0)
    tl.store(base + COUNT, -1.0)
    tl.store(marks_ptr + one * 2 + FINISHED, 0)
    tl.store(marks_ptr + one * 2 + LISTED, 0)


@triton.jit
def _left(left_ptr, which: tl.constexpr, chunks, CHUNKS: tl.constexpr):
    """Return what the programs of a map left, past caches that only they see."""
    i = tl.arange(0, CHUNKS)
    place = left_ptr + which * chunks + i
    return tl.load(place, mask=i < chunks, other=0.0, cache_modifier=".cg")


@triton.jit
def _added(high, low, x):
    """Add x to a sum, and what rounding loses to another: twice the digits."""
    total = high + x
    of_x = total - high
    return total, low + ((high - (total - of_x)) + (x - of_x))


@triton.jit(do_not_specialize=["fewest", "most"])
def count(
    p_ptr, state_ptr, marks_ptr, left_ptr, node_ptr, n, chunks, fewest, most,
    KIND: tl.constexpr, DOUBLE: tl.constexpr, STATE: tl.constexpr, SUMS: tl.constexpr,
    BLOCK: tl.constexpr, LOOPS: tl.constexpr, CHUNKS: tl.constexpr, EVEN: tl.constexpr,
    ROOM: tl.constexpr,
):  # fmt: skip
    """Read each map once, and find the window that its best cut is in."""
    one = (tl.program_id(0) // chunks).to(tl.int64)
    part = tl.program_id(0) % chunks
    base = state_ptr + one * STATE
    if tl.load(base + SETTLED) > 0.0:
        return
    work = tl.float64 if DOUBLE else tl.float32
    start = part.to(tl.int64) * (BLOCK * LOOPS)
    length = tl.minimum(n - start, BLOCK * LOOPS).to(tl.int32)
    source = p_ptr + one * n + start
    edge = tl.load(base + THRESHOLD).to(work)
    some = tl.zeros([BLOCK], tl.int32)
    lowest = tl.zeros([BLOCK], work)
    highest = tl.zeros([BLOCK], work)
    hits = tl.zeros([BLOCK], work)
    total = tl.zeros([BLOCK], work)
    total_low = tl.zeros([BLOCK], work)
    for i in range(LOOPS):
        at = i * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            x = tl.load(source + at).to(work)
        else:
            x = tl.load(source + at, mask=at < length, other=0.0).to(work)
        above = x > edge
        some += above.to(tl.int32)
        hits += tl.where(above, x, 0.0)
        lowest = tl.minimum(lowest, x)
        highest = tl.maximum(highest, x)
        total, total_low = _added(total, total_low, x)
    total = tl.sum(total.to(tl.float64) + total_low.to(tl.float64), axis=0)
    bad = (tl.max(highest, axis=0) > 1.0) | (tl.min(lowest, axis=0) < 0.0)
    bad = bad | (total != total)  # as a NaN makes it
    left = left_ptr + one * SUMS * chunks
    tl.store(left + part, tl.sum(some, axis=0).to(tl.float64))
    tl.store(left + chunks + part, tl.sum(hits.to(tl.float64), axis=0))
    tl.store(left + 2 * chunks + part, total)
    tl.store(left + 3 * chunks + part, bad.to(tl.float64))
    # The last program of a map to come here has everything that the others left.
    tl.debug_barrier()
    finished = marks_ptr + one * 2 + FINISHED
    if tl.atomic_add(finished, 1, sem="acq_rel") == chunks - 1:
        tl.store(finished, 0)
        k = tl.sum(_left(left, 0, chunks, CHUNKS), axis=0)
        k1 = tl.sum(_left(left, 1, chunks, CHUNKS), axis=0)
        total = tl.sum(_left(left, 2, chunks, CHUNKS), axis=0)
        tl.store(base + TOTAL, total)
        tl.store(base + BAD, tl.sum(_left(left, 3, chunks, CHUNKS), axis=0))
        b2 = tl.load(node_ptr)
        empty = tl.load(node_ptr + 1)
        t = tl.load(base + THRESHOLD)
        dense = tl.load(base + DENSE)
        target = tl.load(base + TARGET)
        steep = tl.maximum(b2, 1.0)
        size = _size(k, k1, total, b2, KIND)
        again = _share(k1, k, total, b2)
        # The share of the best cut is higher, by what the pixels in between pay.
        apart = again - t
        higher = dense * apart * apart / (2.0 * tl.maximum(k + b2 * total, 1e-300))
        again = tl.minimum(again + higher, 1.0)
        wrong_by = higher + again * _FLOAT * (2 + 2 * LOOPS)
        wrong_by += 8.0 * steep * again / size
        few = (size < steep * _LEAST) | ((empty != 0.0) & (total < _EMPTY))
        # If a budget binds, the window is where the pixel of that place is.
        expected = k + (t - again) * dense
        more = (k <= most) & (again > t)
        idle = tl.where(target == most, more, (k >= fewest) & (again < t))
        target = tl.where(idle, -1.0, target)
        target = tl.where((target < 0.0) & (expected > most), 0.0 * k + most, target)
        target = tl.where(
            (target < 0.0) & (expected < fewest), 0.0 * k + fewest, target
        )
        settled = tl.where(few | (dense * wrong_by < 0.25 * ROOM), 1.0, 0.0)
        if target >= 0.0:
            few = few & (target < 0.0)
            off = tl.abs(k - target)
            settled = tl.where(off < 0.2 * ROOM, 1.0, 0.0)
            # The density between two thresholds is better than that around one.
            last_count = tl.load(base + COUNT)
            last_t = tl.load(base + CUT)
            between = (k - last_count) / (last_t - t)
            steady = (last_count >= 0.0) & (last_t != t) & (between > 0.0)
            dense = tl.where(steady, between, dense)
            again = tl.minimum(tl.maximum(t + (k - target) / dense, 0.0), 1.0)
            wrong_by = (off * 0.5 + 0.2 * ROOM) / dense
            tl.store(base + DENSE, dense)
            tl.store(base + COUNT, k)
            tl.store(base + CUT, t)
        tl.store(base + THRESHOLD, again.to(work).to(tl.float64))
        tl.store(base + TARGET, target)
        tl.store(base + SETTLED, settled)
        low = again - wrong_by
        high = tl.where(few, _NOTHING, again + wrong_by)
        # No more than ROOM pixels have a share of 1 / ROOM of the sum.
        low = tl.where(few, tl.minimum(0.5 * low, total / ROOM), low)
        tl.store(base + LOW, tl.where(low > 0.0, low, _ALL).to(work).to(tl.float64))
        tl.store(base + HIGH, high.to(work).to(tl.float64))


@triton.jit
def write(
    p_ptr, mask_ptr, state_ptr, marks_ptr, left_ptr, list_ptr, n, chunks,
    DOUBLE: tl.constexpr, STATE: tl.constexpr, SUMS: tl.constexpr, BLOCK: tl.constexpr,
    LOOPS: tl.constexpr, CHUNKS: tl.constexpr, EVEN: tl.constexpr, ROOM: tl.constexpr,
):  # fmt: skip
    """Read each map again: write masks outside the window, sum, and list the rest."""
    one = (tl.program_id(0) // chunks).to(tl.int64)
    part = tl.program_id(0) % chunks
    base = state_ptr + one * STATE
    work = tl.float64 if DOUBLE else tl.float32
    start = part.to(tl.int64) * (BLOCK * LOOPS)
    length = tl.minimum(n - start, BLOCK * LOOPS).to(tl.int32)
    source = p_ptr + one * n + start
    target = mask_ptr + one * n + start
    low = tl.load(base + LOW).to(work)
    high = tl.load(base + HIGH).to(work)
    k = tl.zeros([BLOCK], tl.int32)
    open = tl.zeros([BLOCK], tl.int32)
    least = tl.full([BLOCK], 2.0, work)
    k1 = tl.zeros([BLOCK], work)
    k1_low = tl.zeros([BLOCK], work)
    k2 = tl.zeros([BLOCK], work)
    k3 = tl.zeros([BLOCK], work)
    k4 = tl.zeros([BLOCK], work)
    r2 = tl.zeros([BLOCK], work)
    r3 = tl.zeros([BLOCK], work)
    r4 = tl.zeros([BLOCK], work)
    for i in range(LOOPS):
        at = i * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            x = tl.load(source + at).to(work)
            tl.store(target + at, (x > high).to(tl.uint8))
        else:
            x = tl.load(source + at, mask=at < length, other=0.0).to(work)
            tl.store(target + at, (x > high).to(tl.uint8), mask=at < length)
        above = x > high
        k += above.to(tl.int32)
        least = tl.minimum(least, tl.where(above, x, 2.0))
        open += ((x > low) & (x <= high)).to(tl.int32)
        square = x * x
        y = tl.where(above, x, 0.0)
        z = tl.where(above, square, 0.0)
        k1, k1_low = _added(k1, k1_low, y)
        k2 += z
        k3 += z * y
        k4 += z * z
        y = tl.where(x <= low, x, 0.0)
        z = y * y
        r2 += z
        r3 += z * y
        r4 += z * z
    left = left_ptr + one * SUMS * chunks
    tl.store(left + part, tl.sum(k, axis=0).to(tl.float64))
    k1 = tl.sum(k1.to(tl.float64) + k1_low.to(tl.float64), axis=0)
    tl.store(left + chunks + part, k1)
    tl.store(left + 2 * chunks + part, tl.sum(k2.to(tl.float64), axis=0))
    tl.store(left + 3 * chunks + part, tl.sum(k3.to(tl.float64), axis=0))
    tl.store(left + 4 * chunks + part, tl.sum(k4.to(tl.float64), axis=0))
    tl.store(left + 5 * chunks + part, tl.sum(r2.to(tl.float64), axis=0))
    tl.store(left + 6 * chunks + part, tl.sum(r3.to(tl.float64), axis=0))
    tl.store(left + 7 * chunks + part, tl.sum(r4.to(tl.float64), axis=0))
    tl.store(left + 8 * chunks + part, tl.min(least, axis=0).to(tl.float64))
    if tl.max(open, axis=0) > 0:
        listed = marks_ptr + one * 2 + LISTED + tl.zeros([BLOCK], tl.int32)
        room = list_ptr + one * 2 * ROOM
        for i in range(LOOPS):
            at = i * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(source + at, mask=(open > 0) & (at < length), other=2.0).to(
                work
            )
            chosen = (open > 0) & (at < length) & (x > low) & (x <= high)
            place = tl.atomic_add(listed, 1, mask=chosen, sem="relaxed")
            fits = chosen & (place < ROOM)
            tl.store(room + place, x.to(tl.float64), mask=fits)
            tl.store(room + ROOM + place, (start + at).to(tl.float64), mask=fits)


# Compiled once for all sizes of large maps: it is the longest of the kernels.
@triton.jit(do_not_specialize=["n", "chunks", "fewest", "most", "loops"])
def finish(
    p_ptr, mask_ptr, state_ptr, marks_ptr, left_ptr, list_ptr, work_ptr, node_ptr,
    n, chunks, fewest, most, loops,
    KIND: tl.constexpr, DOUBLE: tl.constexpr, STATE: tl.constexpr, SUMS: tl.constexpr,
    SMALL: tl.constexpr, SPAN: tl.constexpr, ROOM: tl.constexpr, SHORT: tl.constexpr,
    OPEN: tl.constexpr, CROWD: tl.constexpr, NODES: tl.constexpr, WORK: tl.constexpr,
):  # fmt: skip
    """Find the best cut of the list of each map, or of the map; complete its mask."""
    one = tl.program_id(0).to(tl.int64)
    base = state_ptr + one * STATE
    map_ptr = p_ptr + one * n
    target = mask_ptr + one * n
    open_ptr = work_ptr + one * WORK
    ranked = open_ptr + 2 * OPEN + 2 * NODES
    whole = True
    many = 0 * n
    room = list_ptr + one * 2 * ROOM
    i = tl.arange(0, ROOM)
    if SMALL:
        bad = tl.zeros([SPAN], tl.int32)
        for begin in range(0, n, SPAN):
            at = begin + tl.arange(0, SPAN)
            x = tl.load(map_ptr + at, mask=at < n, other=0.0)
            bad |= ((x >= 0.0) & (x <= 1.0)).to(tl.int32) ^ 1
        tl.store(base + BAD, tl.max(bad, axis=0).to(tl.float64))
    else:
        many += tl.load(marks_ptr + one * 2 + LISTED)
        whole = many > ROOM
        if not whole:
            left = left_ptr + one * SUMS * chunks
            for which in range(SUMS):
                found = tl.zeros([SPAN], tl.float64)
                least = tl.full([SPAN], _NOTHING, tl.float64)
                for first in range(0, chunks, SPAN):
                    j = first + tl.arange(0, SPAN)
                    place = left + which * chunks + j
                    x = tl.load(place, mask=j < chunks, other=0.0)
                    found += x
                    least = tl.minimum(least, tl.where(j < chunks, x, _NOTHING))
                # They stand in the state as they were left; the last one is a minimum.
                last = which == SUMS - 1
                whose = tl.where(last, CUT, ABOVE + which)
                x = tl.where(last, tl.min(least, axis=0), tl.sum(found, axis=0))
                tl.store(base + whose, x)
            # In any order so far: sums over the list must not depend on it.
            _rank(room, ranked, many)
    going = True
    while going:
        cut, ties, done = _decide(
            map_ptr, ranked, tl.where(whole, n, 0), tl.where(whole, 0, many), base,
            open_ptr, node_ptr, fewest, most, loops, KIND, DOUBLE, SPAN, OPEN, SHORT,
            CROWD, NODES,
        )  # fmt: skip
        going = (done == 0) & (whole == 0)
        if whole:
            taken = 0.0 * ties
            for begin in range(0, n, SPAN):
                at = begin + tl.arange(0, SPAN)
                x = _probabilities(map_ptr, ranked, n, 0, at)
                tied = ((x == cut) & (at < n)).to(tl.int32)
                first = taken + tl.cumsum(tied, axis=0) <= ties
                chosen = (x > cut) | ((tied > 0) & first)
                tl.store(target + at, chosen.to(tl.uint8), mask=at < n)
                taken += tl.sum(tied, axis=0)
        elif done:
            x = tl.load(room + i, mask=i < many, other=-1.0)
            place = tl.load(room + ROOM + i, mask=i < many, other=0.0).to(tl.int64)
            tied = (x == cut) & (i < many)
            under = tl.full([], -1, tl.int64)
            last = under + n
            if tl.sum(tied.to(tl.int32), axis=0) > ties:
                # Of pixels that tie at the cut, those come that stand first in the map.
                while last - under > 1:
                    middle = (last + under) // 2
                    reached = tl.sum((tied & (place <= middle)).to(tl.int32), axis=0)
                    last = tl.where(reached >= ties, middle, last)
                    under = tl.where(reached >= ties, under, middle)
                last = tl.where(ties < 1.0, -1, last)
            chosen = (x > cut) | (tied & (place <= last))
            tl.store(target + place, chosen.to(tl.uint8), mask=i < many)
        whole = True
