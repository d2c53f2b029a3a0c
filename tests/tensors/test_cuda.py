"""Masks on a CUDA device, where there is one: no CI has it."""

import numpy as np
import pytest

import bestcut

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

from bestcut.torch import BestCutMasks, decide_masks  # noqa: E402


def smooth(maps, side, seed=0):
    made = torch.Generator("cuda").manual_seed(seed)
    x = torch.randn(maps, side, side, device="cuda", generator=made)
    for dim in (1, 2):
        x = sum(x.roll(i, dim) for i in range(-8, 9))
    return torch.sigmoid(2 * x / x.std() - 1)


@pytest.mark.parametrize("metric", ["dice", "jaccard", "f2"])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64], ids=str
)
def test_masks_are_the_best(dtype, metric):
    for side in (48, 300):
        p = smooth(3, side).to(dtype)
        found = decide_masks(p, metric)
        assert found.masks.device == p.device
        for i in range(3):
            x = p[i].double().reshape(-1).cpu().numpy()
            own = bestcut.expected_score(x, found.masks[i].reshape(-1).cpu(), metric)
            best = bestcut.decide(x, metric).expected_score
            assert best - own <= 1e-9
            assert abs(own - float(found.expected_score[i])) <= float(found.error[i])


def test_a_subclass_has_the_same_masks():
    class Scan(torch.Tensor):
        pass

    for side in (48, 300):
        p = smooth(3, side)
        found = decide_masks(p.as_subclass(Scan))
        assert type(found.masks) is Scan
        plain = found.masks.as_subclass(torch.Tensor)
        assert torch.equal(plain, decide_masks(p).masks)


def test_the_same_bits_again_and_in_a_graph():
    p = smooth(4, 512)
    first = decide_masks(p)
    for _ in range(5):
        again = decide_masks(p)
        assert torch.equal(again.masks, first.masks)
        assert torch.equal(again.expected_score, first.expected_score)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = decide_masks(p)
    p.copy_(smooth(4, 512, seed=1))
    graph.replay()
    assert torch.equal(captured.masks, decide_masks(p).masks)
    captured.check()


def test_bad_values_are_found_on_the_device():
    p = smooth(3, 200)
    p[1, 5, 5] = float("nan")
    with pytest.raises(bestcut.InvalidProbabilityError, match=r"index \(1,\)"):
        decide_masks(p)
    later = decide_masks(p, validate=False)
    with pytest.raises(bestcut.InvalidProbabilityError):
        later.check()


def test_another_stream():
    p = smooth(4, 512)
    expected = decide_masks(p).masks
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        found = decide_masks(p, validate=False)
    stream.synchronize()
    assert torch.equal(found.masks, expected)


def test_another_device():
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one device")
    p = smooth(2, 300).to("cuda:1")
    found = decide_masks(p)
    assert found.masks.device == p.device
    assert torch.equal(found.masks.cpu(), decide_masks(p.cpu()).masks)


@pytest.mark.parametrize("side", [40, 300])
@pytest.mark.parametrize("metric", ["dice", "jaccard"])
def test_a_budget_is_kept_on_the_device(metric, side):
    p = smooth(3, side)
    usual = int(decide_masks(p, metric).n_positive.min())
    for fewest, most in ((0, usual // 2), (2 * usual, None), (7, 9)):
        found = decide_masks(p, metric, min_positives=fewest, max_positives=most)
        for row, mask in zip(p, found.masks, strict=True):
            x = row.double().reshape(-1).cpu().numpy()
            own = bestcut.expected_score(x, mask.reshape(-1).cpu(), metric)
            best = bestcut.decide(x, metric, min_positives=fewest, max_positives=most)
            assert best.expected_score - own <= 1e-9
            assert fewest <= int(mask.sum()) <= (most or x.size)


def test_metrics_that_go_through_the_core():
    p = smooth(2, 40)
    found = decide_masks(p, "mcc")
    exact = bestcut.decide_each(p.reshape(2, -1).cpu().numpy(), "mcc")
    np.testing.assert_array_equal(found.masks.reshape(2, -1).cpu(), exact.labels)


def test_a_graph_is_not_left_for_the_cpu():
    p = smooth(2, 40)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = p + 1  # an empty graph warns
        with pytest.raises(RuntimeError, match="Decide outside the graph"):
            decide_masks(p, "mcc")
    graph.replay()
    assert torch.equal(kept, p + 1)


def test_a_map_of_more_than_two_to_the_31():
    n = 2**31 + 1000
    if torch.cuda.mem_get_info()[0] < 3 * n:
        pytest.skip("there is too little memory")
    p = torch.full((1, n), 0.125, dtype=torch.bfloat16, device="cuda")
    p[0, : 10**6] = 0.75
    found = decide_masks(p, dims=(-1,))
    # Two values with their counts: all pixels, or the large ones alone.
    hits = 0.75 * 10**6 + 0.125 * (n - 10**6)
    f = 2 * hits / (n + hits)
    assert int(found.n_positive[0]) == n
    assert float(found.expected_score[0]) == pytest.approx(f, rel=1e-8)
    del p
    torch.cuda.empty_cache()


def test_a_layer_on_the_device():
    p = torch.softmax(torch.stack([smooth(2, 64, s) for s in range(3)], 1) * 4, dim=1)
    assert BestCutMasks(output="multiclass")(p).shape == (2, 64, 64)
