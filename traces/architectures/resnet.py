"""ResNet-50 (He et al., CVPR 2016) for 224 x 224 images and 1000 classes, in the common "v1.5" form: a stage
halves the image in the 3 x 3 convolution of its first block, not in the 1 x 1 before it."""

from .layer import Layer, affine, conv, linear

EXPANSION = 4
STAGES = ((3, 64, 56), (4, 128, 28), (6, 256, 14), (3, 512, 7))  # blocks, width, side of the stage's images


def resnet_50() -> list[Layer]:
    layers = [normalised("conv1", "bn1", 3, 64, 7, 112)]
    inputs, side = 64, 56
    for stage, (blocks, width, stage_side) in enumerate(STAGES, start=1):
        for block in range(blocks):
            layers += bottleneck(f"layer{stage}.{block}", inputs, width, side, stage_side)
            inputs, side = EXPANSION * width, stage_side
    return layers + [linear("fc", inputs, 1000, rows=1)]


def bottleneck(name: str, inputs: int, width: int, side: int, side_after: int) -> list[Layer]:
    outputs = EXPANSION * width
    layers = [
        normalised(f"{name}.conv1", f"{name}.bn1", inputs, width, 1, side),
        normalised(f"{name}.conv2", f"{name}.bn2", width, width, 3, side_after),
        normalised(f"{name}.conv3", f"{name}.bn3", width, outputs, 1, side_after),
    ]
    if inputs != outputs:
        shortcut = f"{name}.downsample"
        layers.append(normalised(f"{shortcut}.0", f"{shortcut}.1", inputs, outputs, 1, side_after))
    return layers


def normalised(name: str, norm: str, inputs: int, outputs: int, kernel: int, side: int) -> Layer:
    return conv(name, inputs, outputs, kernel, side).plus(*affine(norm, outputs))
