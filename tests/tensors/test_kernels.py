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

from bestcut.torch import _fast, _kernels  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")


@pytest.fixture(autouse=True)
def _smaller_samples(monkeypatch):
    # The interpreter takes most of its time for these. Later reads make up for it.
    monkeypatch.setattr(_fast, "_SAMPLED", 1024)


RNG = np.random.default_rng(0)
N = 2500  # pixels of a map that is read in several parts
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
    p = np.full((3, 2 * N), 1e-7)
    p[0, 64:89], p[1, 100:125] = RNG.random((2, 25)) * 0.8
    p[2, ::640] = 0.4
    return p


KINDS = {
    "beta": np.stack([RNG.beta(0.3, 3, 2 * N), RNG.beta(0.5, 0.5, 2 * N)]),
    "spots": spotted(),
    "object": an_object(),
    "all improbable": 1e-4 * RNG.beta(0.5, 0.5, (2, 2 * N)),
    "saturated": np.where(RNG.random((2, N)) < 0.1, 1 - 1e-5, 1e-5),
    "constant": np.repeat([[0.3], [0.0], [1.0]], N, axis=1),
    "steps": np.round(RNG.random((2, N)), 1),
    "faint steps": np.where(RNG.random((2, N)) < 2e-3, np.round(RNG.random(N), 1), 0),
    "small": RNG.random((5, 256)) ** np.arange(1, 6)[:, None],
    "small steps": np.round(RNG.random((5, 256)) ** np.arange(1, 6)[:, None], 1),
    "dim": np.stack([1e-4 * RNG.random(N), 1e-3 * RNG.random(N)]),
    "crowded": np.stack([0.3 + 1e-6 * RNG.random(N), 1e-3 + 1e-9 * RNG.random(N)]),
    "one pixel": np.array([[0.3], [0.0], [1.0]]),
}
METRICS = [FBeta(1.0), Jaccard(), FBeta(0.7), FBeta(2.0), FBeta(0.5)]


def found_by(p, metric, dtype=torch.float32, fewest=0, most=None):
    maps = torch.tensor(p, dtype=dtype)
    masks, state = _fast.decide(
        maps,
        jaccard=isinstance(metric, Jaccard),
        b2=1.0 if isinstance(metric, Jaccard) else metric.beta**2,
        empty=metric.zero_division,
        fewest=fewest,
        most=maps.shape[1] if most is None else most,
    )
    numbers = {x: state[:, i].numpy() for x, i in _fast.NAMES.items()}
    return maps.double().numpy(), masks.numpy(), numbers


def assert_best(p, masks, numbers, metric, fewest=0, most=None):
    """Assert that masks are the best, and that what is said of them is true."""
    for i, (row, mask) in enumerate(zip(p, masks, strict=True)):
        best = bestcut.decide(
            row, metric, min_positives=fewest, max_positives=most
        ).expected_score
        assert fewest <= mask.sum() <= (row.size if most is None else most)
        if mask.any():
            assert row[mask].min() == numbers["threshold"][i]
        own = bestcut.expected_score(row, mask, metric)
        assert best - own <= PROVED
        assert best - own <= numbers["gap"][i]
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


@pytest.mark.parametrize("metric", METRICS[:2], ids=lambda x: x.name)
@pytest.mark.parametrize("n", [300, 2500, 6000])
def test_masks_are_the_best_within_a_budget(n, metric):
    p = RNG.random((1, n)) ** 3
    k = int(bestcut.decide(p[0], metric).n_positive)
    for fewest, most in ((0, k // 2), (0, k - 1), (k + 1, n), (2 * k, n), (7, 9)):
        found = found_by(p, metric, fewest=fewest, most=most)
        assert_best(*found, metric, fewest, most)


@pytest.mark.parametrize(("fewest", "most"), [(0, 700), (2000, N), (0, 1), (N, N)])
def test_a_budget_may_divide_pixels_that_tie(fewest, most):
    found = found_by(KINDS["steps"], METRICS[0], fewest=fewest, most=most)
    assert_best(*found, METRICS[0], fewest, most)


def exact_rule(size):
    """Return log z and weights of a rule of 200 nodes for integrals over z."""
    y, weight = np.polynomial.legendre.leggauss(200)
    y = (y + 1.0) / 2.0
    c = min(4.0, 1000.0 / size)
    log_z = c * np.log1p(-(y**2))
    return log_z, weight * y * c * np.exp(log_z * (c - 1.0) / c)


@pytest.mark.parametrize("b2", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("shape", [(0.3, 3), (1, 1), (0.5, 0.5), (0.05, 1)], ids=str)
def test_what_pixels_before_the_window_need(shape, b2):
    """Lemma 22 (c): s Q is at most 1 / (1 - C' / s), with C' = 8 max(b, 1) / 3."""
    for n in (20, 200, 2000):
        p = RNG.beta(*shape, n)
        for k in sorted({2, 3, 5, 10, n // 10 + 2, n // 3 + 2, n}):
            s = k - 1 + b2 * p.sum()
            c = 8.0 * max(b2, 1.0) / 3.0
            if s <= c:
                continue
            log_z, weight = exact_rule(s)
            w = -np.expm1(b2 * log_z)
            logs = np.log1p(-np.outer(w, p)).sum(axis=1)
            g = [np.sum(weight * np.exp(logs + (x - 1) * log_z)) for x in (k - 1, k)]
            beyond = np.sum(weight * np.exp(logs + (k + b2 - 1) * log_z))
            assert s * (g[0] - g[1]) / beyond <= 1.0 / (1.0 - c / s)


@pytest.mark.parametrize("b2", [0.25, 0.49, 1.0, 4.0])
def test_the_rule_for_integrals_follows_them(b2):
    """Lemma 22: 32 nodes, against the exact law of the count."""
    numbers = _fast._numbers(torch.device("cpu"), b2, 0.0).numpy()
    log_y, base = numbers[2 : 2 + _kernels.NODES], numbers[2 + _kernels.NODES :]
    for n, k in ((1, 1), (3, 1), (40, 4), (300, 100), (900, 20)):
        p = np.sort(RNG.beta(0.5, 0.5, n))[::-1]
        c = min(4.0, 100.0 / (k + b2 * p.sum()))
        w = -np.expm1(b2 * c * log_y)
        factors = 1.0 - np.outer(w, p)
        power = np.log(factors).sum(axis=1) + (k - 1 + b2) * c * log_y
        a = (p[:k] / factors[:, :k]).sum(axis=1)
        part = c * base * np.exp((c - 1.0) * log_y + power) * a
        exact = bestcut.expected_score(p, np.arange(n) < k, FBeta(b2**0.5))
        assert (1.0 + b2) * part.sum() == pytest.approx(exact, abs=1e-12)


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
        assert_best(maps, masks, numbers, metric)


@pytest.mark.parametrize("metric", METRICS[2:], ids=lambda x: x.name)
def test_masks_are_the_best_for_other_betas(metric):
    assert_best(*found_by(KINDS["beta"][1:], metric), metric)
    assert_best(*found_by(KINDS["small"][:2], metric), metric)


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
