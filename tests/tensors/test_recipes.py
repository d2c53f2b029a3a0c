"""The recipes of docs/guides/masks.md, with the packages that they are for."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from bestcut.torch import BestCutMasks, decide_masks  # noqa: E402


def imported(name):
    """Return a package, whose own warnings at import are not ours; or skip."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is not installed")


@pytest.mark.filterwarnings("ignore")
def test_transforms_of_monai():
    transforms = imported("monai.transforms")
    x = torch.randn(2, 16, 16, generator=torch.Generator().manual_seed(0))
    expected = decide_masks(torch.sigmoid(x)).masks
    activate = transforms.Activations(sigmoid=True)
    array = transforms.Compose([activate, BestCutMasks("dice")])
    assert torch.equal(torch.as_tensor(array(x)), expected)
    by_key = transforms.Compose(
        [
            transforms.Activationsd("pred", sigmoid=True),
            transforms.Lambdad("pred", BestCutMasks("dice")),
        ]
    )
    assert torch.equal(torch.as_tensor(by_key({"pred": x})["pred"]), expected)


@pytest.mark.filterwarnings("ignore")
def test_a_meta_tensor_of_monai_keeps_its_metadata():
    data = imported("monai.data")
    p = torch.rand(2, 8, 8, generator=torch.Generator().manual_seed(0))
    affine = 2.0 * torch.eye(4, dtype=torch.float64)
    given = data.MetaTensor(p, affine=affine, meta={"patient": 7})
    for masks in (decide_masks(given).masks, BestCutMasks("dice")(given)):
        assert isinstance(masks, data.MetaTensor)
        assert masks.meta["patient"] == 7
        assert torch.equal(masks.affine, affine)
        assert masks.dtype == torch.bool
        assert torch.equal(masks.as_tensor(), decide_masks(p).masks)
    assert type(decide_masks(given).expected_score) is torch.Tensor


@pytest.mark.filterwarnings("ignore")
def test_a_label_manager_of_nnunet():
    handling = imported("nnunetv2.utilities.label_handling.label_handling")

    class BestCutLabels(handling.LabelManager):
        def convert_probabilities_to_segmentation(self, predicted_probabilities):
            layer = BestCutMasks(
                "dice", dims=(-3, -2, -1), output="multiclass", classes=0
            )
            return layer(torch.as_tensor(predicted_probabilities))

        def convert_logits_to_segmentation(self, predicted_logits):
            probabilities = self.apply_inference_nonlin(predicted_logits)
            return self.convert_probabilities_to_segmentation(probabilities)

    manager = BestCutLabels({"background": 0, "one": 1, "two": 2}, None)
    logits = torch.randn(3, 4, 5, 6, generator=torch.Generator().manual_seed(0))
    found = manager.convert_logits_to_segmentation(logits)
    assert found.shape == (4, 5, 6)
    p = torch.softmax(logits, dim=0)
    assert torch.equal(found, manager.convert_probabilities_to_segmentation(p))
