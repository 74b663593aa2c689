"""Programs that give a point estimate: each a function of a table, which returns theta and the penalty 1 / prior_sd^2 it used.

The intercept is a column of ones, because the prior is one of the intercept, too. Tolerances are the programs' own defaults.
"""
import numpy as np

from tables import read


def design(table, stages):
    stages.end("import")
    x, y = read(table)
    stages.end("read")
    return np.column_stack([np.ones(len(y)), x]), y


def scikit_learn(table, stages):
    from sklearn.linear_model import LogisticRegression

    x, y = design(table, stages)
    model = LogisticRegression(C=table.prior_sd**2, fit_intercept=False, max_iter=1000).fit(x, y)
    stages.end("fit")
    return model.coef_[0], table.prior_sd**-2


def glum(table, stages):
    from glum import GeneralizedLinearRegressor

    x, y = design(table, stages)
    alpha = 1 / (table.prior_sd**2 * len(y))  # its penalty is added to the mean deviance per row
    model = GeneralizedLinearRegressor(family="binomial", alpha=alpha, l1_ratio=0, fit_intercept=False).fit(x, y)
    stages.end("fit")
    return model.coef_, table.prior_sd**-2


def statsmodels(table, stages):
    """Maximum likelihood with standard errors: its Newton method takes no penalty."""
    import statsmodels.api

    x, y = design(table, stages)
    result = statsmodels.api.Logit(y, x).fit(disp=False)
    stages.end("fit")
    return result.params, 0.0


ALL = {"scikit-learn": scikit_learn, "glum": glum, "statsmodels": statsmodels}
