"""Names for the types of arrays: `Floats`, `Ints` and `Mask` (booleans, such as which arms are awake)."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
