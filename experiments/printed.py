"""What the paper prints in its Tables 1 and 2, transcribed from its LaTeX source."""

# The paper's own names, in the order of its columns and panels.
PAPER_METRICS = {
    "f1": "F1",
    "jaccard": "Jaccard",
    "balanced_accuracy": "AM",
    "fowlkes_mallows": "G-TP/PR",
}
METHODS = ("DTA", "Baseline", "EUM")

# (data set, T) -> metric -> (DTA, Baseline, EUM)
PRINTED = {
    ("reuters", 1): {
        "f1": (0.5875, 0.5151, 0.4980),
        "jaccard": (0.4761, 0.4308, 0.4257),
        "balanced_accuracy": (0.8834, 0.7223, 0.7733),
        "fowlkes_mallows": (0.7289, 0.5447, 0.5299),
    },
    ("reuters", 10): {
        "f1": (0.8247, 0.7624, 0.7599),
        "jaccard": (0.6801, 0.6409, 0.6910),
        "balanced_accuracy": (0.9520, 0.8360, 0.9111),
        "fowlkes_mallows": (0.8066, 0.7800, 0.8076),
    },
    ("reuters", 50): {
        "f1": (0.8997, 0.8428, 0.8510),
        "jaccard": (0.7515, 0.7448, 0.7578),
        "balanced_accuracy": (0.9659, 0.9017, 0.9582),
        "fowlkes_mallows": (0.8495, 0.8441, 0.8691),
    },
    ("reuters", 100): {
        "f1": (0.9856, 0.9675, 0.9669),
        "jaccard": (0.9398, 0.9375, 0.9357),
        "balanced_accuracy": (0.9783, 0.9761, 0.9781),
        "fowlkes_mallows": (0.9687, 0.9675, 0.9672),
    },
    ("letters", 1): {
        "f1": (0.7110, 0.4827, 0.5745),
        "jaccard": (0.4272, 0.3632, 0.4318),
        "balanced_accuracy": (0.8715, 0.7020, 0.8720),
        "fowlkes_mallows": (0.5787, 0.5064, 0.5902),
    },
    ("scene", 1): {
        "f1": (0.9626, 0.6891, 0.5916),
        "jaccard": (0.3540, 0.0206, 0.2080),
        "balanced_accuracy": (0.5840, 0.5065, 0.5810),
        "fowlkes_mallows": (0.5069, 0.0605, 0.3848),
    },
    ("webpage", 1): {
        "f1": (0.8394, 0.6269, 0.6267),
        "jaccard": (0.4637, 0.5215, 0.5194),
        "balanced_accuracy": (0.8689, 0.8205, 0.8750),
        "fowlkes_mallows": (0.6617, 0.6867, 0.6886),
    },
    ("spambase", 1): {
        "f1": (0.9636, 0.8798, 0.8892),
        "jaccard": (0.7314, 0.7867, 0.8003),
        "balanced_accuracy": (0.8780, 0.9010, 0.9090),
        "fowlkes_mallows": (0.8494, 0.8831, 0.8913),
    },
    ("image", 1): {
        "f1": (0.9578, 0.8571, 0.8581),
        "jaccard": (0.7455, 0.7500, 0.7623),
        "balanced_accuracy": (0.8041, 0.8192, 0.8069),
        "fowlkes_mallows": (0.8676, 0.8577, 0.8702),
    },
    ("breast_cancer", 1): {
        "f1": (0.9793, 0.9589, 0.9766),
        "jaccard": (0.9342, 0.9211, 0.9481),
        "balanced_accuracy": (0.9796, 0.9661, 0.9830),
        "fowlkes_mallows": (0.9660, 0.9590, 0.9734),
    },
}
