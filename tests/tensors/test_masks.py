"""Masks of probability maps, by the public interface, on the CPU."""

import numpy as np
import pytest

import bestcut

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from bestcut.torch import BestCutMasks, decide_dataset, decide_masks  # noqa: E402

FLOATS = [torch.float32, torch.float16, torch.bfloat16, torch.float64]


def maps(*shape, seed=0, power=3):
    made = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, generator=made) ** power


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("metric", ["dice", "jaccard", "mcc", "f2"])
def test_masks_are_those_of_decide_each(metric, dtype):
    p = maps(2, 3, 8, 9).to(dtype)
    found = decide_masks(p, metric)
    exact = bestcut.decide_each(p.reshape(6, -1).double().numpy(), metric)
    np.testing.assert_array_equal(found.masks.reshape(6, -1).numpy(), exact.labels)
    assert found.masks.shape == p.shape
    assert found.masks.dtype == torch.bool
    for name in ("expected_score", "error", "gap", "n_positive"):
        here = getattr(found, name)
        assert here.shape == (2, 3)
        np.testing.assert_array_equal(here.reshape(-1).numpy(), getattr(exact, name))
    # As on a GPU it is the smallest probability in the mask, not the number halfway.
    least = torch.where(found.masks, p.double(), np.inf).amin(dim=(-2, -1))
    assert torch.equal(found.threshold, least)


def test_volumes_and_dimensions_in_any_order():
    p = maps(4, 5, 6, 2)
    found = decide_masks(p, dims=(0, 1, 2))
    for c in range(2):
        alone = bestcut.decide(p[..., c].reshape(-1).numpy())
        np.testing.assert_array_equal(found.masks[..., c].reshape(-1), alone.labels)
        assert found.expected_score[c].item() == pytest.approx(alone.expected_score)


def test_strided_and_channels_last_maps():
    p = maps(2, 3, 8, 8)
    last = p.to(memory_format=torch.channels_last)
    part = maps(2, 3, 16, 16)[:, :, ::2, 1::2]
    for x in (last, part):
        same = decide_masks(x.contiguous())
        assert torch.equal(decide_masks(x).masks, same.masks)


def test_nothing_is_changed_and_nothing_is_differentiated():
    p = maps(1, 4, 4).requires_grad_()
    kept = p.detach().clone()
    found = decide_masks(p)
    assert torch.equal(p, kept)
    assert not found.expected_score.requires_grad


def test_a_subclass_stays_one():
    class Scan(torch.Tensor):
        pass

    p = maps(2, 5, 5)
    found = decide_masks(p.as_subclass(Scan))
    assert type(found.masks) is Scan
    assert torch.equal(found.masks.as_subclass(torch.Tensor), decide_masks(p).masks)
    assert type(decide_masks(torch.nn.Parameter(p)).masks) is torch.Tensor


def test_bounds_on_the_number_of_pixels():
    p = maps(3, 10, 10)
    found = decide_masks(p, min_positives=4, max_positives=7)
    assert torch.all((found.n_positive >= 4) & (found.n_positive <= 7))
    exact = bestcut.decide_each(
        p.reshape(3, -1).numpy(), min_positives=4, max_positives=7
    )
    np.testing.assert_array_equal(found.masks.reshape(3, -1), exact.labels)


def test_no_maps_and_maps_of_one_pixel():
    assert decide_masks(torch.rand(0, 3, 3)).masks.shape == (0, 3, 3)
    one = decide_masks(torch.tensor([[[0.2]], [[0.0]]]))
    assert one.masks.reshape(-1).tolist() == [True, False]
    assert one.threshold.tolist() == [pytest.approx(0.2), float("inf")]


@pytest.mark.parametrize("wrong", [float("nan"), -1e-6, 1.5, float("inf")])
def test_what_is_no_probability_is_refused_at_once_or_later(wrong):
    p = maps(2, 2, 3, 3)
    p[1, 0, 1, 1] = wrong
    with pytest.raises(bestcut.InvalidProbabilityError, match=r"index \(1, 0\)"):
        decide_masks(p)
    later = decide_masks(p, validate=False)
    with pytest.raises(bestcut.InvalidProbabilityError, match="sigmoid"):
        later.check()


def test_refusals_say_what_to_do():
    with pytest.raises(TypeError, match=r"bestcut\.decide_each"):
        decide_masks(np.ones((2, 2)))
    with pytest.raises(TypeError, match="Labels are not probabilities"):
        decide_masks(torch.ones(2, 2, dtype=torch.int64))
    with pytest.raises(ValueError, match="`dims` must name different dimensions"):
        decide_masks(torch.rand(4, 4), dims=(-3, -1))
    with pytest.raises(ValueError, match="`dims` must name different dimensions"):
        decide_masks(torch.rand(4, 4), dims=(-1, 1))
    with pytest.raises(ValueError, match="at least one pixel"):
        decide_masks(torch.rand(4, 0, 4))
    with pytest.raises(ValueError, match="'masks' or 'multiclass'"):
        BestCutMasks(output="labels")
    for classes in (-1, 4, -5):
        with pytest.raises(ValueError, match="that is not in `dims`"):
            BestCutMasks(output="multiclass", classes=classes)(torch.rand(1, 2, 3, 3))


@pytest.mark.parametrize("dims", [-1, None, 1.5, (1.0, 2.0), "ab", (True, 2)], ids=repr)
def test_odd_dimensions_are_refused_by_name(dims):
    for decide in (decide_masks, lambda p, dims: BestCutMasks(dims=dims)(p)):
        with pytest.raises(TypeError, match=r"`dims` must be a tuple of whole numbers"):
            decide(torch.rand(1, 4, 4), dims=dims)


@pytest.mark.parametrize("dims", [[-2, -1], np.array([1, 2]), torch.tensor([1, 2])])
def test_dimensions_may_be_in_any_sequence(dims):
    p = maps(2, 5, 5)
    assert torch.equal(decide_masks(p, dims=dims).masks, decide_masks(p).masks)


def test_maps_that_are_bad_are_named_as_a_user_would():
    p = torch.full((4, 4), float("nan"))
    with pytest.raises(
        bestcut.InvalidProbabilityError, match="this map breaks this rule"
    ):
        decide_masks(p)
    with pytest.raises(bestcut.InvalidProbabilityError, match="2 maps break this rule"):
        decide_masks(p.expand(2, 4, 4))


@pytest.mark.parametrize("classes", [None, 1.0, "1", True, (1,)], ids=repr)
def test_a_dimension_of_classes_is_a_whole_number(classes):
    with pytest.raises(TypeError, match="`classes` must be a whole number"):
        BestCutMasks(output="multiclass", classes=classes)


def test_no_classes_cannot_be_chosen_from():
    with pytest.raises(ValueError, match=r"shape \(2, 0, 4, 4\) has none in dimension"):
        BestCutMasks(output="multiclass")(torch.rand(2, 0, 4, 4))


# --- as a layer -----------------------------------------------------------------------


def test_a_layer_in_a_model():
    model = torch.nn.Sequential(torch.nn.Sigmoid(), BestCutMasks("jaccard"))
    x = torch.randn(2, 1, 6, 6, generator=torch.Generator().manual_seed(0))
    assert torch.equal(model(x), decide_masks(torch.sigmoid(x), "jaccard").masks)
    assert "jaccard" in repr(model)


def test_a_compiled_model():
    p = maps(2, 1, 6, 6)
    layer = torch.compile(BestCutMasks("dice"), backend="eager")
    assert torch.equal(layer(p), decide_masks(p).masks)


def test_one_class_for_each_pixel():
    logits = torch.randn(2, 3, 7, 7, generator=torch.Generator().manual_seed(0))
    p = torch.softmax(2 * logits, dim=1)
    found = decide_masks(p)
    label = BestCutMasks(output="multiclass")(p)
    assert label.shape == (2, 7, 7)
    claims = found.masks.sum(dim=1)
    # A pixel that one class claims goes to it.
    alone = found.masks.int().argmax(dim=1)
    assert torch.equal(label[claims == 1], alone[claims == 1])
    # And one that several claim, to one of them.
    chosen = found.masks.gather(1, label[:, None])[:, 0]
    assert torch.all(chosen[claims > 0])


# --- all maps together ----------------------------------------------------------------


@pytest.mark.parametrize("metric", ["dice", "mcc"])
def test_one_threshold_for_all_maps(metric):
    batches = [maps(3, 40, 40, seed=s, power=1 + s) for s in range(4)]
    found = decide_dataset(batches, metric)
    whole = torch.cat([x.reshape(-1) for x in batches]).double().numpy()
    exact = bestcut.decide(whole, metric)
    assert found.expected_score == pytest.approx(exact.expected_score, abs=1e-12)
    assert (
        found.n_positive
        == exact.n_positive
        == sum(int((x.double() >= found.threshold).sum()) for x in batches)
    )
    assert isinstance(found, bestcut.streams.Cut)


def test_batches_must_come_twice():
    with pytest.raises(TypeError, match="iterated over twice"):
        decide_dataset(x for x in [torch.rand(2, 2)])


@pytest.mark.parametrize("batches", [None, 3, torch.tensor(0.5)], ids=repr)
def test_what_cannot_be_gone_through_is_refused(batches):
    with pytest.raises(TypeError, match="`batches` must be a list or a loader of tens"):
        decide_dataset(batches)


@pytest.mark.parametrize("kind", [list, tuple, lambda pair: {"image": pair[0]}])
def test_a_loader_that_gives_targets_too(kind):
    p = torch.rand(2, 4, 4)
    with pytest.raises(TypeError, match=r"batch 1 is a \w+\. A loader also gives targ"):
        decide_dataset([p, kind((p, torch.zeros(2)))])
    with pytest.raises(TypeError, match=r"batch 0 is a ndarray\. Put tensors of prob"):
        decide_dataset([p.numpy()])


@pytest.mark.parametrize(
    ("wrong", "got"), [(float("nan"), "got null or NaN"), (1.5, "got 1.5")]
)
def test_a_bad_batch_is_named(wrong, got):
    bad = torch.rand(2, 4, 4)
    bad[1, 0, 2] = wrong
    place = rf"{got} in batch 2 at index \(1, 0, 2\)\."
    with pytest.raises(bestcut.InvalidProbabilityError, match=place):
        decide_dataset([torch.rand(4), torch.rand(3, 3), bad])


def test_batches_that_change_are_noticed():
    class Changing:
        def __init__(self):
            self.seed = 0

        def __iter__(self):
            self.seed += 1
            return iter([maps(200, seed=self.seed)])

    with pytest.raises(
        ValueError, match=r"the same probabilities .* `model\.eval\(\)`"
    ):
        decide_dataset(Changing())


# --- tensors in the core --------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_core_takes_tensors(dtype):
    p = maps(50).to(dtype)
    plain = bestcut.decide(p.double().numpy())
    found = bestcut.decide(p.clone().requires_grad_())
    np.testing.assert_array_equal(found.labels, plain.labels)
    assert bestcut.expected_score(p, plain.labels) == pytest.approx(
        plain.expected_score
    )
    each = bestcut.decide_each(p.reshape(5, 10))
    assert each.labels.shape == (5, 10)


def test_maps_in_the_core_are_told_where_masks_are():
    for decide in (bestcut.decide, bestcut.decide_each):
        with pytest.raises(
            ValueError, match=r"`bestcut\.torch\.decide_masks` with a te"
        ):
            decide(maps(2, 3, 4, 4))
