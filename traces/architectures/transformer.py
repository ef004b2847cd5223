"""Transformer, base size (Vaswani et al., NeurIPS 2017), for WMT English-German.

As in TensorFlow's official model: a vocabulary of 33,708 subwords, one matrix for both embeddings and the
output projection, attention without biases, normalisation before each sublayer and after each stack. The
shared matrix belongs to the first layer; the output projection's work is in the last one.
"""

from .layer import Layer, Tensor, affine, attention_work, linear

VOCABULARY, BLOCKS, WIDTH, INNER = 33708, 6, 512, 2048


def transformer_base(tokens: int) -> list[Layer]:
    """A sample is a pair of sentences of `tokens` each."""
    layers = [Layer("embedding", 0, (Tensor("embedding.weight", VOCABULARY * WIDTH),))]
    for index in range(BLOCKS):
        name = f"encoder.{index}"
        layers += attention(f"{name}.self_attention", tokens) + feed_forward(f"{name}.feed_forward", tokens)
    layers[-1] = layers[-1].plus(*affine("encoder.norm", WIDTH))
    for index in range(BLOCKS):
        name = f"decoder.{index}"
        layers += attention(f"{name}.self_attention", tokens) + attention(f"{name}.cross_attention", tokens)
        layers += feed_forward(f"{name}.feed_forward", tokens)
    return layers + [Layer("decoder.norm", tokens * WIDTH * VOCABULARY, affine("decoder.norm", WIDTH))]


def attention(name: str, tokens: int) -> list[Layer]:
    query, key, value, output = (linear(f"{name}.{part}", WIDTH, WIDTH, tokens, bias=False)
                                 for part in ("query", "key", "value", "output"))
    return [query.plus(*affine(f"{name}.norm", WIDTH)), key, value,
            output.plus(work=attention_work(tokens, tokens, WIDTH))]


def feed_forward(name: str, tokens: int) -> list[Layer]:
    return [linear(f"{name}.filter", WIDTH, INNER, tokens).plus(*affine(f"{name}.norm", WIDTH)),
            linear(f"{name}.output", INNER, WIDTH, tokens)]
