"""GPT-2, the smallest size (Radford et al., 2019).

The output head shares its matrix with the token embeddings, so that matrix belongs to the first layer; the
head's work is in the last one.
"""

from .layer import Layer, Tensor, affine, attention_work, linear

VOCABULARY, POSITIONS, BLOCKS, WIDTH = 50257, 1024, 12, 768


def gpt_2(tokens: int) -> list[Layer]:
    """A sample is a sequence of `tokens`."""
    layers = [Layer("embeddings", 0, (
        Tensor("wte.weight", VOCABULARY * WIDTH), Tensor("wpe.weight", POSITIONS * WIDTH)))]
    for index in range(BLOCKS):
        layers += block(f"h.{index}", tokens)
    return layers + [Layer("ln_f", tokens * WIDTH * VOCABULARY, affine("ln_f", WIDTH))]


def block(name: str, tokens: int) -> list[Layer]:
    return [
        linear(f"{name}.attn.c_attn", WIDTH, 3 * WIDTH, tokens).plus(*affine(f"{name}.ln_1", WIDTH)),
        linear(f"{name}.attn.c_proj", WIDTH, WIDTH, tokens).plus(work=attention_work(tokens, tokens, WIDTH)),
        linear(f"{name}.mlp.c_fc", WIDTH, 4 * WIDTH, tokens).plus(*affine(f"{name}.ln_2", WIDTH)),
        linear(f"{name}.mlp.c_proj", 4 * WIDTH, WIDTH, tokens),
    ]
