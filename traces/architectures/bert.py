"""BERT-Large, uncased (Devlin et al., NAACL 2019), with both pre-training heads.

The decoder of the masked-token head shares its matrix with the word embeddings, so that matrix belongs to the
first layer: its gradient is complete only there. The decoder's own layer has the bias.
"""

from .layer import Layer, Tensor, affine, attention_work, linear

VOCABULARY, POSITIONS, SEGMENTS = 30522, 512, 2
BLOCKS, WIDTH, INNER = 24, 1024, 4096


def bert_large(tokens: int, masked: int, unexplained: int = 0) -> list[Layer]:
    """A sample is a sequence of `tokens`, of which the masked-token head predicts `masked`. `unexplained` are
    elements that a publication counts beyond this architecture; they stand where a decoder's own matrix
    would."""
    layers = [Layer("embeddings", 0, (
        Tensor("embeddings.word_embeddings.weight", VOCABULARY * WIDTH),
        Tensor("embeddings.position_embeddings.weight", POSITIONS * WIDTH),
        Tensor("embeddings.token_type_embeddings.weight", SEGMENTS * WIDTH),
        *affine("embeddings.LayerNorm", WIDTH),
    ))]
    for index in range(BLOCKS):
        layers += block(f"encoder.layer.{index}", tokens)
    transform = "cls.predictions.transform"
    extra = (Tensor("cls.predictions.unexplained", unexplained),) if unexplained else ()
    return layers + [
        linear("pooler.dense", WIDTH, WIDTH, rows=1),
        linear(f"{transform}.dense", WIDTH, WIDTH, masked).plus(*affine(f"{transform}.LayerNorm", WIDTH)),
        Layer("cls.predictions", masked * WIDTH * VOCABULARY,
              (Tensor("cls.predictions.bias", VOCABULARY), *extra)),
        linear("cls.seq_relationship", WIDTH, 2, rows=1),
    ]


def block(name: str, tokens: int) -> list[Layer]:
    attention, output = f"{name}.attention", f"{name}.output"
    return [
        linear(f"{attention}.self.query", WIDTH, WIDTH, tokens),
        linear(f"{attention}.self.key", WIDTH, WIDTH, tokens),
        linear(f"{attention}.self.value", WIDTH, WIDTH, tokens),
        linear(f"{attention}.output.dense", WIDTH, WIDTH, tokens).plus(
            *affine(f"{attention}.output.LayerNorm", WIDTH), work=attention_work(tokens, tokens, WIDTH)),
        linear(f"{name}.intermediate.dense", WIDTH, INNER, tokens),
        linear(f"{output}.dense", INNER, WIDTH, tokens).plus(*affine(f"{output}.LayerNorm", WIDTH)),
    ]
