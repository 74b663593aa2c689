"""Writes loans.csv: 10,000 simulated loans, drawn from a logistic regression with known coefficients."""
import math
import pathlib
import random

random.seed(20140322)
COEFFICIENTS = {"intercept": -1.1, "age": -0.25, "income": -0.30, "late_payments": 0.55, "self_employed": 0.40}
with open(pathlib.Path(__file__).parent / "loans.csv", "w") as out:
    out.write("age,income,late_payments,self_employed,defaulted\n")
    for _ in range(10_000):
        age = round(random.uniform(-2.2, 3.0), 1)  # decades from 42
        income = round(random.lognormvariate(1.2, 0.5) - 3.8, 1)  # ten thousands from 38,000
        late = min(6, int(random.expovariate(1.1)))
        own = int(random.random() < 0.18)
        c = COEFFICIENTS
        eta = c["intercept"] + c["age"] * age + c["income"] * income + c["late_payments"] * late + c["self_employed"] * own
        out.write(f"{age},{income},{late},{own},{int(random.random() < 1 / (1 + math.exp(-eta)))}\n")
