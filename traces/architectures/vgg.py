"""VGG-16 (Simonyan and Zisserman, ICLR 2015, configuration D) for 224 x 224 images and 1000 classes."""

from .layer import Layer, conv, linear

BLOCKS = ((2, 64, 224), (2, 128, 112), (3, 256, 56), (3, 512, 28), (3, 512, 14))  # convolutions, width, side


def vgg_16() -> list[Layer]:
    layers, inputs, index = [], 3, 0
    for convolutions, width, side in BLOCKS:
        for _ in range(convolutions):
            layers.append(conv(f"features.{index}", inputs, width, 3, side, bias=True))
            inputs, index = width, index + 2  # the activation takes an index as well
        index += 1  # and so does the pooling
    return layers + [
        linear("classifier.0", 512 * 7 * 7, 4096, rows=1),
        linear("classifier.3", 4096, 4096, rows=1),
        linear("classifier.6", 4096, 1000, rows=1),
    ]
