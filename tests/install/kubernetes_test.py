"""The manifests for Kubernetes are valid, and agree with themselves. No cluster is asked.

    kubernetes_test.py ROOT     checks release/kubernetes/mpijob.yaml in the tree at ROOT

Built-in kinds, and the pods of the MPIJob, are checked by the schemas of Kubernetes, with unknown fields refused; the rest of
the MPIJob by a schema below.
"""
import pathlib
import re
import sys
import tomllib

try:
    import jsonschema
    import kubernetes_validate
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

VERSIONS = ("1.32", "1.37")
COUNT = {"type": "integer", "minimum": 0}


def only(properties, required=()):
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


REPLICAS = only({"replicas": {"type": "integer", "minimum": 1}, "restartPolicy": {"enum": ["Never", "OnFailure"]}, "template": {"type": "object"}},
                ["template"])
# The fields of kubeflow.org/v2beta1 (pkg/apis/kubeflow/v2beta1/types.go of the operator), with what it accepts as values.
MPI_JOB = only({
    "apiVersion": {"const": "kubeflow.org/v2beta1"},
    "kind": {"const": "MPIJob"},
    "metadata": {"type": "object"},
    "spec": only({
        "slotsPerWorker": {"type": "integer", "minimum": 1},
        "runLauncherAsWorker": {"type": "boolean"},
        "mpiImplementation": {"enum": ["OpenMPI", "Intel", "MPICH"]},
        "sshAuthMountPath": {"type": "string", "pattern": "^/"},
        "launcherCreationPolicy": {"enum": ["AtStartup", "WaitForWorkersReady"]},
        "runPolicy": only({
            "cleanPodPolicy": {"enum": ["None", "Running", "All"]},
            "ttlSecondsAfterFinished": COUNT, "activeDeadlineSeconds": COUNT, "backoffLimit": COUNT,
            "suspend": {"type": "boolean"}, "schedulingPolicy": {"type": "object"},
        }),
        "mpiReplicaSpecs": only({"Launcher": REPLICAS, "Worker": REPLICAS}, ["Launcher", "Worker"]),
    }, ["mpiReplicaSpecs"]),
}, ["apiVersion", "kind", "metadata", "spec"])


def pods(job):
    """The pods of a job, as the operator makes them of the templates."""
    return {role: {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": role.lower(), **replicas["template"].get("metadata", {})},
                   "spec": {**replicas["template"]["spec"], "restartPolicy": replicas["restartPolicy"]}}
            for role, replicas in job["spec"]["mpiReplicaSpecs"].items()}


def check(documents):
    """Throws unless the documents are valid."""
    for document in documents:
        checked = [document]
        if document["kind"] == "MPIJob":
            jsonschema.validate(document, MPI_JOB)
            checked = pods(document).values()
        for built_in in checked:
            for version in VERSIONS:
                kubernetes_validate.validate(built_in, version, strict=True)


def check_agreement(documents):
    of_kind = {document["kind"]: document for document in documents}
    job = of_kind["MPIJob"]
    launcher, worker = (pods(job)[role]["spec"] for role in ("Launcher", "Worker"))
    ranks = job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] * job["spec"]["slotsPerWorker"]
    script = "".join(launcher["containers"][0]["args"])
    assert re.findall(r"(?:mpiexec -n|--expect-ranks) (\d+)", script) == [str(ranks)] * 2, f"{ranks} ranks, and: {script}"
    fit = tomllib.loads(of_kind["ConfigMap"]["data"]["fit.toml"])
    assert str(fit["threads"]) == worker["containers"][0]["resources"]["limits"]["cpu"], "threads are not the cpu of a worker"
    assert of_kind["PersistentVolumeClaim"]["spec"]["accessModes"] == ["ReadWriteMany"]
    names = {kind: document["metadata"]["name"] for kind, document in of_kind.items()}
    for spec in (launcher, worker):
        container, volumes = spec["containers"][0], {volume["name"]: volume for volume in spec["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
        assert volumes["runs"]["persistentVolumeClaim"]["claimName"] == names["PersistentVolumeClaim"]
    assert worker["volumes"][1]["configMap"]["name"] == names["ConfigMap"]
    container = launcher["containers"][0]
    assert [source["secretRef"]["name"] for source in container["envFrom"]] == [names["Secret"]]
    assert container["env"][0]["valueFrom"]["configMapKeyRef"]["name"] == names["ConfigMap"]


def refuses(documents, spoil):
    """Whether the documents are invalid after a change."""
    changed = yaml.safe_load_all(yaml.safe_dump_all(documents))
    changed = {document["kind"]: document for document in changed}
    spoil(changed)
    try:
        check(changed.values())
    except (jsonschema.ValidationError, kubernetes_validate.ValidationError):
        return True
    return False


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    documents = list(yaml.safe_load_all((root / "release" / "kubernetes" / "mpijob.yaml").read_text()))
    check(documents)
    check_agreement(documents)

    def replicas(changed, role):
        return changed["MPIJob"]["spec"]["mpiReplicaSpecs"][role]

    for spoil in (lambda c: c["MPIJob"]["spec"].update(slots=1),
                  lambda c: replicas(c, "Worker").update(restartPolicy="Sometimes"),
                  lambda c: replicas(c, "Worker")["template"]["spec"].update(container=[]),
                  lambda c: replicas(c, "Launcher")["template"]["spec"]["containers"][0].update(resources={"limit": {}}),
                  lambda c: c["Secret"].update(stringdata={}),
                  lambda c: c["PersistentVolumeClaim"]["spec"].update(accessModes="ReadWriteMany")):
        assert refuses(documents, spoil)
    print(f"{len(documents)} manifests are valid for Kubernetes {' and '.join(VERSIONS)}")
