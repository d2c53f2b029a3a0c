"""The kernels of `bestcut.torch`, in Triton's interpreter.

The interpreter must be chosen before the kernels are defined, so these tests have a
process of their own: `make test-torch` sets TRITON_INTERPRET=1.
"""

import os

import numpy as np
import pytest

import bestcut
from bestcut.metrics import FBeta, Jaccard

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("triton", reason="Triton is not installed")
if os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("TRITON_INTERPRET=1 is not set", allow_module_level=True)

from bestcut.torch import _fast  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")


@pytest.fixture(autouse=True)
def _smaller_samples(monkeypatch):
    # The interpreter takes most of its time for these. Later reads make up for it.
    monkeypatch.setattr(_fast, "_SAMPLED", 1024)


RNG = np.random.default_rng(0)
N = 5000  # pixels of a map that is read in several parts
PROVED = 1e-9


def spotted():
    """Return faint maps: few pixels that matter, and many that hardly do."""
    p = np.full((3, N), 1e-6)
    p[0, 100:140] = 0.4
    p[1, 500:503] = 0.9
    p[2] = RNG.beta(0.01, 20, N)
    return p


def an_object():
    """Return maps whose objects a sample hits and misses, on a dark ground."""
    p = np.full((3, 4 * N), 1e-7)
    p[0, 64:89], p[1, 100:125] = RNG.random((2, 25)) * 0.8
    p[2, ::640] = 0.4
    return p


KINDS = {
    # Of fewer pixels so spread out some are not proved, and the core decides them.
    "beta": np.stack([RNG.beta(0.3, 3, 4 * N), RNG.beta(0.5, 0.5, 4 * N)]),
    "spots": spotted(),
    "object": an_object(),
    "all improbable": 1e-4 * RNG.beta(0.5, 0.5, (2, 4 * N)),
    "saturated": np.where(RNG.random((2, N)) < 0.1, 1 - 1e-5, 1e-5),
    "constant": np.repeat([[0.3], [0.0], [1.0]], N, axis=1),
    "steps": np.round(RNG.random((2, N)), 1),
    "faint steps": np.where(RNG.random((2, N)) < 2e-3, np.round(RNG.random(N), 1), 0),
    "small": RNG.random((5, 256)) ** np.arange(1, 6)[:, None],
    "small steps": np.round(RNG.random((5, 256)) ** np.arange(1, 6)[:, None], 1),
    "one pixel": np.array([[0.3], [0.0], [1.0]]),
}
METRICS = [FBeta(1.0), Jaccard(), FBeta(0.7), FBeta(2.0), FBeta(0.5)]


def found_by(p, metric, dtype=torch.float32):
    b2 = 1.0 if isinstance(metric, Jaccard) else metric.beta**2
    maps = torch.tensor(p, dtype=dtype)
    found = _fast.begin(
        maps,
        jaccard=isinstance(metric, Jaccard),
        b2=b2,
        empty=metric.zero_division,
    )
    found.finish()
    numbers = {x: found.state[:, i].numpy() for x, i in found.names.items()}
    return maps.double().numpy(), found.masks.numpy(), numbers


def assert_best(p, masks, numbers, metric):
    """Assert that masks are the best, and that what is said of them is true."""
    for i, (row, mask) in enumerate(zip(p, masks, strict=True)):
        best = bestcut.decide(row, metric).expected_score
        own = bestcut.expected_score(row, mask, metric)
        assert best - own <= PROVED
        assert best - own <= numbers["gap"][i] + 1e-15
        assert abs(own - numbers["score"][i]) <= numbers["error"][i]
        assert numbers["count"][i] == mask.sum()
        assert np.all(mask[row > numbers["threshold"][i]])
        assert not np.any(mask[row < numbers["threshold"][i]])
    assert np.all(numbers["gap"] <= PROVED)
    assert np.all(numbers["error"] <= 1e-7)


def test_a_mask_that_is_not_the_best_is_noticed():
    p, masks, numbers = found_by(KINDS["small"][:1], METRICS[0])
    assert_best(p, masks, numbers, METRICS[0])
    with pytest.raises(AssertionError):
        assert_best(p, ~masks, numbers, METRICS[0])
    with pytest.raises(AssertionError):
        assert_best(p, masks, numbers | {"score": numbers["score"] + 1e-6}, METRICS[0])


@pytest.mark.parametrize("metric", METRICS[:2], ids=lambda x: x.name)
@pytest.mark.parametrize("kind", KINDS)
def test_masks_are_the_best(kind, metric):
    assert_best(*found_by(KINDS[kind], metric), metric)


def test_what_is_not_proved_is_not_claimed():
    # Too many pixels that matter for a list, and too few positives for sums.
    metric = METRICS[0]
    p = np.stack([1e-4 * RNG.random(N), 1e-3 * RNG.random(N)])
    p, masks, numbers = found_by(p, metric)
    assert np.all(numbers["gap"] > PROVED)  # the core decides such maps
    for row, mask, score, error in zip(
        p, masks, numbers["score"], numbers["error"], strict=True
    ):
        assert abs(bestcut.expected_score(row, mask, metric) - score) <= error


def threshold_of(p, k, b2, jaccard):
    """Return t(T) of Lemma 22 for the first k pixels: by all factors, at 48 nodes."""
    x, weight = np.polynomial.laguerre.laggauss(48)
    t = p[k - 1]
    outside = p[k:] if jaccard else p
    s = k + b2 * outside.sum()
    z, w = np.exp(-x / s), -np.expm1(-b2 * x / s)
    product = np.log1p(-np.outer(w, outside)).sum(axis=1)
    shift = 0.0 if jaccard else b2
    part = weight * np.exp(x - x * (k + shift) / s + product) / s
    hits = p[:k].sum() if jaccard else (p[:k] / (1 - np.outer(w, p[:k]))).sum(axis=1)
    for _ in range(200):
        gained = np.sum(part * z / (1 - t * w))
        if jaccard:
            lost = hits * np.sum(part * w / (1 - t * w))
            t = lost / (lost + gained)
        else:
            t = np.sum(part * (1 - z) * hits) / gained
    return t


@pytest.mark.parametrize("b2", [1.0, 4.0, 0.25, None], ids=str)
@pytest.mark.parametrize("shape", [(0.3, 3), (1, 1), (0.5, 0.5), (20, 30)], ids=str)
def test_what_a_pixel_moves_the_threshold_by(shape, b2):
    """Lemma 22 (d), for F-beta and (None) Jaccard."""
    jaccard, b2 = b2 is None, b2 or 1.0
    p = np.sort(RNG.beta(*shape, 4000))[::-1]
    low, high = 1, p.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        pays = p[middle] > threshold_of(p, middle, b2, jaccard)
        low, high = (middle, high) if pays else (low, middle)
    k, t = low, threshold_of(p, low, b2, jaccard)
    variance = p * (1 - p)
    if jaccard:
        s = k + p[k:].sum()
        c = 2 * t * (1 - t) ** 2 * (variance[k:].sum() / s + t)
        first = (p[k] - t) * (1 - t) / s
    else:
        s = k + b2 * p.sum()
        c = b2 * variance.sum() * t / s - variance[:k].sum() / s + t * (1 - t)
        c, first = 2 * b2 * c, (p[k] - t) / s
    moved = threshold_of(p, k + 1, b2, jaccard) - t
    assert moved - first == pytest.approx(-c / s**2, rel=0.05)


@pytest.mark.parametrize("metric", METRICS[:2], ids=lambda x: x.name)
@pytest.mark.parametrize("ties", [1600, 1603])
def test_a_gap_is_true_where_many_pixels_tie_at_the_cut(metric, ties):
    # With the ties and without them: to first order both score the same.
    p = np.zeros((1, 4100))
    p[0, :200], p[0, 200 : 200 + ties] = 1.0, 0.25
    if isinstance(metric, Jaccard):
        p[0, 200 : 200 + ties] = 1 / 3
        p[0, 200 + ties // 2 :] = 0.0
    for dtype in (torch.float32, torch.float64):
        maps, masks, numbers = found_by(p, metric, dtype)
        best = bestcut.decide(maps[0], metric).expected_score
        own = bestcut.expected_score(maps[0], masks[0], metric)
        assert best - own <= numbers["gap"][0] + 1e-12


@pytest.mark.parametrize("metric", METRICS[2:], ids=lambda x: x.name)
def test_masks_are_the_best_for_other_betas(metric):
    assert_best(*found_by(KINDS["beta"][1:], metric), metric)
    if metric.beta == 2.0:
        assert_best(*found_by(KINDS["small"][:2], metric), metric)
    # Not all are proved: lists are made for a whole beta², the core decides the rest.
    for kind in ("beta", "small"):
        p, masks, numbers = found_by(KINDS[kind][:1], metric)
        best = bestcut.decide(p[0], metric).expected_score
        own = bestcut.expected_score(p[0], masks[0], metric)
        assert best - own <= numbers["gap"][0] + 1e-15


@pytest.mark.parametrize(("n", "high"), [(4096, 1.0), (2000, 1.0), (3, 0.2)])
def test_small_maps_of_many_and_of_few_positives(n, high):
    p = high * RNG.beta(2, 0.2, (1, n))
    assert_best(*found_by(p, METRICS[0]), METRICS[0])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_masks_are_the_best_in_other_precisions(dtype):
    for kind in ("beta", "small"):
        assert_best(*found_by(KINDS[kind][:2], METRICS[0], dtype), METRICS[0])


@pytest.mark.parametrize("metric", [FBeta(1.0, 1.0), Jaccard(1.0)], ids=str)
def test_an_empty_mask_where_two_of_them_count(metric):
    p = np.stack([1e-6 * RNG.random(N), 2e-5 * RNG.random(N), RNG.random(N)])
    assert_best(*found_by(p, metric), metric)
    assert_best(*found_by(0.1 * RNG.random((5, 64)) ** 8, metric), metric)


@pytest.mark.parametrize("pixels", [200, N])
def test_what_is_no_probability_is_noted(pixels):
    p = RNG.random((6, pixels))
    p[1:5, 77] = np.nan, -1e-6, 1.5, np.inf
    _, _, numbers = found_by(p, METRICS[0])
    np.testing.assert_array_equal(numbers["bad"] > 0, [0, 1, 1, 1, 1, 0])


def test_negative_zero_is_a_probability():
    p = RNG.random((1, N))
    p[0, :50] = -0.0
    assert found_by(p, METRICS[0])[2]["bad"][0] == 0


def test_every_pixel_is_written():
    # Sizes that blocks do not divide, and masks that held something else before.
    for n in (1, 1023, 4097, 2 * 1024 * 4 + 1):
        p, masks, _ = found_by(RNG.random((2, n)), METRICS[0])
        for row, mask in zip(p, masks, strict=True):
            assert set(np.unique(mask.view(np.uint8))) <= {0, 1}
            assert mask.sum() == bestcut.decide(row).n_positive


def test_how_long_programs_are():
    assert _fast.loops_of(1, 10_000, 132) == 1
    assert _fast.loops_of(64, 1 << 20, 132) == 32
    assert _fast.loops_of(10**6, 16, 132) == 1
    assert _fast.loops_of(1, 2**31, 132) == 1024  # so that no map has too many
