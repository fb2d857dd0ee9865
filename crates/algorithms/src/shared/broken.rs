//! Variants that are wrong on purpose. The checker must reject each, and say why.
