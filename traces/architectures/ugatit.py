"""U-GAT-IT (Kim et al., ICLR 2020), full version: 256 x 256 images, 64 channels, 4 residual blocks.

An iteration calls each generator 4 times (once to train the discriminators, then to translate, to translate
back and to reproduce) and each discriminator 3 times (real and translated images, then for the generators).
A gradient is complete only when the backward pass reaches the first call, and that pass runs through the
other calls before. So each layer's work is its first call's, and the further calls of all generators are in
the last generator's last layer, those of all discriminators in the last discriminator's last layer.

The two updates of an iteration, discriminators before generators, are one chain here: generators, then
discriminators, and backward the other way.
"""

from .layer import Layer, Tensor, conv, linear

SIDE, CHANNELS, RESIDUAL_BLOCKS = 256, 64, 4
GENERATOR_CALLS, DISCRIMINATOR_CALLS = 4, 3
GLOBAL_DEPTH, LOCAL_DEPTH = 7, 5


def ugatit() -> list[Layer]:
    generators = [layer for name in ("genA2B", "genB2A") for layer in generator(name)]
    depths = {"disGA": GLOBAL_DEPTH, "disLA": LOCAL_DEPTH, "disGB": GLOBAL_DEPTH, "disLB": LOCAL_DEPTH}
    discriminators = [layer for name, depth in depths.items() for layer in discriminator(name, depth)]
    return called(generators, GENERATOR_CALLS) + called(discriminators, DISCRIMINATOR_CALLS)


def called(layers: list[Layer], calls: int) -> list[Layer]:
    """The layers, with the work of the calls after the first in the last layer."""
    further = (calls - 1) * sum(layer.work for layer in layers)
    return layers[:-1] + [layers[-1].plus(work=further)]


def generator(name: str) -> list[Layer]:
    wide, side = 4 * CHANNELS, SIDE // 4
    down, up = f"{name}.DownBlock", f"{name}.UpBlock2"
    layers = [
        conv(f"{down}.1", 3, CHANNELS, 7, SIDE),
        conv(f"{down}.5", CHANNELS, 2 * CHANNELS, 3, SIDE // 2),
        conv(f"{down}.9", 2 * CHANNELS, wide, 3, side),
    ]
    for block in range(RESIDUAL_BLOCKS):
        inner = f"{down}.{12 + block}.conv_block"
        layers += [conv(f"{inner}.1", wide, wide, 3, side), conv(f"{inner}.5", wide, wide, 3, side)]
    layers += [
        activation_map(name, wide, side, suffix="weight"),
        linear(f"{name}.FC.0", wide * side * side, wide, rows=1, bias=False),
        linear(f"{name}.FC.2", wide, wide, rows=1, bias=False),
        linear(f"{name}.gamma", wide, wide, rows=1, bias=False),
        linear(f"{name}.beta", wide, wide, rows=1, bias=False),
    ]
    for block in range(1, RESIDUAL_BLOCKS + 1):
        for index in (1, 2):
            rho = Tensor(f"{name}.UpBlock1_{block}.norm{index}.rho", wide)
            layers.append(conv(f"{name}.UpBlock1_{block}.conv{index}", wide, wide, 3, side).plus(rho))
    return layers + [
        conv(f"{up}.2", wide, 2 * CHANNELS, 3, SIDE // 2).plus(*mixed_norm(f"{up}.3", 2 * CHANNELS)),
        conv(f"{up}.7", 2 * CHANNELS, CHANNELS, 3, SIDE).plus(*mixed_norm(f"{up}.8", CHANNELS)),
        conv(f"{up}.11", CHANNELS, 3, 7, SIDE),
    ]


def discriminator(name: str, depth: int) -> list[Layer]:
    """`depth` - 2 convolutions that halve the image, one that does not, the map, and the verdict."""
    layers, inputs, outputs, side = [], 3, CHANNELS, SIDE
    for index in range(depth - 1):
        side = side // 2 if index < depth - 2 else side - 1
        layers.append(spectral(conv(f"{name}.model.{1 + 3 * index}", inputs, outputs, 4, side, bias=True)))
        inputs, outputs = outputs, 2 * outputs
    return layers + [
        activation_map(name, inputs, side, suffix="weight_orig"),
        spectral(conv(f"{name}.conv", inputs, 1, 4, side - 1)),
    ]


def activation_map(name: str, width: int, side: int, suffix: str) -> Layer:
    """The class activation map: two classifiers of pooled features, and the convolution that joins them."""
    joined = conv(f"{name}.conv1x1", 2 * width, width, 1, side, bias=True)
    pooled = tuple(Tensor(f"{name}.{part}.{suffix}", width) for part in ("gap_fc", "gmp_fc"))
    return joined.plus(*pooled, work=2 * width)


def mixed_norm(name: str, width: int) -> tuple[Tensor, ...]:
    return tuple(Tensor(f"{name}.{part}", width) for part in ("rho", "gamma", "beta"))


def spectral(layer: Layer) -> Layer:
    """Spectral normalisation trains the weight before its division by the largest singular value."""
    renamed = tuple(Tensor(tensor.name.replace(".weight", ".weight_orig"), tensor.elements)
                    for tensor in layer.tensors)
    return Layer(layer.name, layer.work, renamed)
