"""The tables of the head to head, in Markdown."""
import cost
from agreement import STEP, comparable, difference, prior_of

NAMES = {"flymc": "flymc", "stan": "Stan (stanli), NUTS", "numpyro": "NumPyro, NUTS", "nutpie": "nutpie (PyMC), NUTS", "pymhss": "pymhss, MH-SS",
         "scikit-learn": "scikit-learn", "glum": "glum", "statsmodels": "statsmodels"}


def number(value, digits=2):
    """Returns a number with two significant digits and commas between thousands."""
    if value >= 100:
        rounded = float(f"{value:.{digits}g}")
        return f"{rounded:,.0f}"
    return f"{value:.{digits}g}"


def by_table(cells):
    """Synthetic tables by size and then the others, and the programs of each in the order of NAMES."""
    place = {name: k for k, name in enumerate(NAMES)}
    ordered = sorted(cells, key=lambda cell: ("synthetic" not in cell["table"], cell.get("rows", 0), place.get(cell["rival"], 0.5)))
    tables = {}
    for cell in ordered:
        tables.setdefault(cell["table"], {})[cell["rival"]] = cell
    return tables


def entry(cell, figure):
    if cell is None or "kind" not in cell:
        return "-"
    value = figure(cell)
    off = "†" if cell.get("step", 0.0) >= STEP else ""  # an estimate that is not the mode
    return "" if value is None else ("~" if cost.extrapolated(cell) else "") + number(value) + off


def grid(cells, figure, rivals, title):
    tables = by_table(cells)
    lines = [f"| {title} | " + " | ".join(tables) + " |", "| --- |" + " --- |" * len(tables)]
    for rival in rivals:
        lines.append(f"| {NAMES[rival]} | " + " | ".join(entry(tables[name].get(rival), figure) for name in tables) + " |")
    return "\n".join(lines)


def details(cells):
    """The table of all cells: the run, its cost, and how far its posterior is from flymc's."""
    lines = ["| table | program | processor s | wall s | chains x draws | least ESS, bulk and tail | passes | means, sds off by |", "| --- |" * 1 + " --- |" * 7]
    for name, found in by_table(cells).items():
        for rival, cell in found.items():
            label = NAMES.get(rival, rival)
            if "kind" not in cell:
                lines.append(f"| {name} | {label} | - | | | | | {cell['missing']} |")
                continue
            took = f"{number(sum(cell['processor'].values()), 3)} | {number(sum(cell['wall'].values()), 3)}"
            if cell["kind"] == "estimate":
                lines.append(f"| {name} | {label} | {took} | | | | step {cell.get('step', float('nan')):.1e} sd |")
                continue
            reference = found.get("flymc" if prior_of(cell) == "normal" else "flymc, flat prior")
            off = "reference" if rival.startswith("flymc") else "too few draws" if not comparable(cell) else "{:.1f}, {:.1f}".format(*difference(cell, reference))
            ess = "" if cell["short"] else f"{cell['ess_bulk']:,.0f}, {cell['ess_tail']:,.0f}"
            lines.append(f"| {name} | {label} | {took} | {cell['chains']} x {cell['draws']} | {ess} | {number(sum(cell['passes']), 3)} | {off} |")
    return "\n".join(lines)


def markdown(cells):
    cells = [cell for found in by_table(cells).values() for cell in found.values()]
    shown = [rival for rival in NAMES if any(cell["rival"] == rival and "kind" in cell for cell in cells)]
    posterior = [rival for rival in shown if not any(cell["rival"] == rival and cell.get("kind") == "estimate" for cell in cells)]
    return "\n\n".join([
        grid(cells, cost.seconds, shown, "processor seconds"),
        grid(cells, cost.passes, posterior, "passes"),
        details(cells)]) + "\n"
