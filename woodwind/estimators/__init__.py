"""The scikit-learn skin: parameters in, model out. The only room of the product that imports scikit-learn."""
