"""Programs that draw from the posterior: each is a function of a table, a budget, and a starting point for short runs.

They return draws (chains x draws x coefficients), the evaluations of the whole likelihood (passes) in warm-up and in
sampling, and whether the run was cut short. A short run starts at the posterior means with the posterior variances as
metric, both from flymc, so that its few iterations are those of a tuned chain; the cost of this help is not counted.
All of them compute in double precision, and two chains run side by side on the two threads.
"""
import os

import numpy as np

from stages import CHAINS, lengths
from tables import read

STAN = {
    "logistic": """
data { int N; int K; matrix[N, K] x; array[N] int y; real s; }
parameters { real alpha; vector[K] beta; }
model {
  alpha ~ normal(0, s);
  beta ~ normal(0, s);
  y ~ bernoulli_logit_glm(x, alpha, beta);
}""",
    "student_t": """
data { int N; int K; matrix[N, K] x; vector[N] y; real s; real nu; real sigma; }
parameters { real alpha; vector[K] beta; }
model {
  alpha ~ normal(0, s);
  beta ~ normal(0, s);
  y ~ student_t(nu, alpha + x * beta, sigma);
}"""}


def read_for_nuts(table, budget, stages):
    """The table, and how long the chains are to be: iterations of warm-up, draws, and whether the budget cut them short."""
    x, y = read(table)
    stages.end("read")
    chosen = lengths(x, budget)
    stages.end("choose")
    return x, y, chosen


def stan(table, budget, start, stages):
    import stanli

    stages.end("import")
    x, y, (warm_up, draws, short) = read_for_nuts(table, budget, stages)
    data = {"N": len(y), "K": x.shape[1], "x": x, "y": y.astype(int) if table.family == "logistic" else y, "s": table.prior_sd}
    if table.family == "student_t":
        data.update(nu=table.nu, sigma=table.sigma)
    model = stanli.Model(stan_code=STAN[table.family], data=data)
    stages.end("set-up")
    tuned = dict(inits=start["mean"], inv_metric=start["sd"] ** 2, step_size=0.5) if short else {}
    # One call does warm-up and draws: the warm-up's share of the time is its share of gradients.
    fit = model.sample(chains=CHAINS, parallel_chains=CHAINS, warmup=warm_up, samples=draws, save_warmup=True, refresh=0, **tuned)
    stages.end("sampling")
    leapfrogs = fit.sampler_stats[:, :, stanli.SAMPLER_COLUMNS.index("n_leapfrog__")]
    passes = leapfrogs[:, :warm_up].sum(), leapfrogs[:, warm_up:].sum()
    share_warm_up(stages, passes)
    return fit.draws()[:, warm_up:, :table.columns], passes, warm_up, short


def share_warm_up(stages, passes):
    for times in (stages.processor, stages.wall):
        both = times.pop("sampling")
        times["warm-up"], times["sampling"] = both * passes[0] / sum(passes), both * passes[1] / sum(passes)


def numpyro(table, budget, start, stages):
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={CHAINS}"
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import numpyro
    from numpyro import distributions as dist
    from numpyro.infer import MCMC, NUTS, init_to_value

    stages.end("import")
    x, y, (warm_up, draws, short) = read_for_nuts(table, budget, stages)
    x, y = jnp.asarray(x), jnp.asarray(y)

    def model(x, y):
        theta = numpyro.sample("theta", dist.Normal(0.0, table.prior_sd).expand([table.columns]).to_event(1))
        eta = theta[0] + x @ theta[1:]
        likelihood = dist.BernoulliLogits(eta) if table.family == "logistic" else dist.StudentT(table.nu, eta, table.sigma)
        numpyro.sample("y", likelihood, obs=y)

    kernel = NUTS(model)
    if short:
        kernel = NUTS(model, init_strategy=init_to_value(values={"theta": jnp.asarray(start["mean"])}), step_size=0.5,
                      inverse_mass_matrix=jnp.asarray(start["sd"] ** 2), adapt_mass_matrix=False)
    sampler = MCMC(kernel, num_warmup=warm_up, num_samples=draws, num_chains=CHAINS, chain_method="parallel", progress_bar=False)
    stages.end("set-up")
    sampler.warmup(jax.random.PRNGKey(1), x, y, extra_fields=("num_steps",), collect_warmup=True)
    before = np.asarray(sampler.get_extra_fields()["num_steps"])
    stages.end("warm-up")
    if short:  # the time of a run of one draw is subtracted, so that compiling does not count as sampling
        tuned = sampler.post_warmup_state
        sampler.num_samples = 1
        sampler.run(jax.random.PRNGKey(2), x, y, extra_fields=("num_steps",))
        np.asarray(sampler.get_samples()["theta"])
        stages.end("compile")
        sampler.post_warmup_state, sampler.num_samples = tuned, draws + 1
    sampler.run(jax.random.PRNGKey(3), x, y, extra_fields=("num_steps",))
    drawn = np.asarray(sampler.get_samples(group_by_chain=True)["theta"])
    steps = np.asarray(sampler.get_extra_fields(group_by_chain=True)["num_steps"])
    stages.end("sampling")
    if short:
        for times in (stages.processor, stages.wall):
            times["sampling"] -= times["compile"]
            times["set-up"] += 2 * times.pop("compile")  # for the warm-up, too
        drawn, steps = drawn[:, 1:], steps[:, 1:]
    return drawn, (before.sum(), steps.sum()), warm_up, short


def nutpie(table, budget, start, stages):
    import nutpie
    import pymc

    stages.end("import")
    x, y, (warm_up, draws, short) = read_for_nuts(table, budget, stages)
    with pymc.Model() as model:
        theta = pymc.Normal("theta", 0.0, table.prior_sd, shape=table.columns)
        eta = theta[0] + pymc.math.dot(x, theta[1:])
        if table.family == "logistic":
            pymc.Bernoulli("y", logit_p=eta, observed=y.astype(int))
        else:
            pymc.StudentT("y", nu=table.nu, mu=eta, sigma=table.sigma, observed=y)
    compiled = nutpie.compile_pymc_model(model)
    stages.end("set-up")
    # It takes no metric, and tunes its own within the first dozens of iterations.
    tuned = dict(init_mean=start["mean"]) if short else {}
    trace = nutpie.sample(compiled, draws=draws, tune=warm_up, chains=CHAINS, cores=CHAINS, seed=1, progress_bar=False, **tuned)
    stages.end("sampling")
    passes = trace.warmup_sample_stats["n_steps"].values.sum(), trace.sample_stats["n_steps"].values.sum()
    share_warm_up(stages, passes)
    return trace.posterior["theta"].values, passes, warm_up, short


def pymhss(table, budget, start, stages):
    """Metropolis-Hastings with scalable subsampling. The library has no prior, and needs the mode and covariance as
    input.

    Both are found by Newton's method here: the library's own search is plain gradient descent. Two chains run in turn.
    """
    from PyMHSS import algorithms

    stages.end("import")
    x, y = read(table)
    stages.end("read")
    x = np.column_stack([np.ones(len(y)), x])
    mode, searched, size = np.zeros(table.columns), 0, np.inf
    while size > 1e-6:
        p = 1 / (1 + np.exp(-(x @ mode)))
        covariance = np.linalg.inv(x.T @ (x * (p * (1 - p))[:, None]))
        step = covariance @ (x.T @ (y - p))
        mode, searched, size = mode + step, searched + 1, np.max(np.abs(step) / np.sqrt(np.diag(covariance)))
    stages.end("set-up")
    np.random.seed(1)
    thin = 20

    def chain(burn_in, length):
        result = algorithms.MH_SS(y, x, covariance, mode, burn_in, length, "logistic", "vectorised", nthin=thin)
        return result["parameters"], float(np.mean(result["BoverN"]))

    trial = 100 * thin
    _, share = chain(0, trial)  # how long does an iteration take?
    stages.end("warm-up")
    warm_up = int(np.clip(budget / (stages.processor["warm-up"] / trial) / (22 * thin), 10, 1000)) * thin
    drawn, shares = zip(*(chain(warm_up, 10 * warm_up) for _ in range(2)))
    stages.end("sampling")
    return np.stack(drawn), (searched + share * trial, 11 * warm_up * sum(shares)), warm_up, False


ALL = {"stan": stan, "numpyro": numpyro, "nutpie": nutpie, "pymhss": pymhss}
