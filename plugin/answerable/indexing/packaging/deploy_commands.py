"""The commands that take a package to its platform; words in capitals are for the reader to set."""

import shlex
from pathlib import Path

from .package_writer import ZIP_FILE
from .platforms import Machine, Platform

_NAME = "answerable"


def list_deploy_commands(target: Platform, machine: Machine, out: Path) -> tuple[str, ...]:
    """The three commands of a target, in order."""
    folder = shlex.quote(str(out))
    archive = shlex.quote(f"fileb://{out / ZIP_FILE}")
    dotless = machine.version.replace(".", "")
    found = {
        "aws-lambda": (
            f"aws lambda create-function --function-name {_NAME} --runtime python{machine.version} "
            f"--architectures {machine.architecture} --handler lambda_function.handler "
            f"--memory-size 1024 --timeout 60 --role ROLE_ARN --zip-file {archive}",
            f"aws lambda create-function-url-config --function-name {_NAME} --auth-type NONE",
            f"aws lambda add-permission --function-name {_NAME} --statement-id url "
            "--action lambda:InvokeFunctionUrl --principal '*' --function-url-auth-type NONE && "
            f"aws lambda add-permission --function-name {_NAME} --statement-id invoke "
            "--action lambda:InvokeFunction --principal '*' --invoked-via-function-url",
        ),
        "google": (
            "gcloud services enable run.googleapis.com cloudbuild.googleapis.com",
            f"gcloud run deploy {_NAME} --source {folder} --function answer "
            f"--base-image python{dotless} --region REGION --memory 1Gi --max-instances 2 "
            "--allow-unauthenticated",
            f"gcloud run services describe {_NAME} --region REGION --format 'value(status.url)'",
        ),
        "vercel": (
            f"vercel link --cwd {folder}",
            f"vercel deploy --prod --cwd {folder}",
            "curl -s -o /dev/null -w '%{http_code}\\n' https://PROJECT.vercel.app/bundle/manifest.json",
        ),
        "azure": (
            f"az functionapp create --name NAME --resource-group GROUP --storage-account STORAGE "
            "--flexconsumption-location REGION --runtime python "
            f"--runtime-version {machine.version}",
            f"(cd {folder} && func azure functionapp publish NAME --build remote)",
            "curl https://NAME.azurewebsites.net/health",
        ),
        "container": (
            f"docker build --platform linux/{_docker(machine)} -t {_NAME} {folder}",
            f"docker run --rm --read-only --cap-drop ALL -p 8000:8000 {_NAME}",
            "curl http://127.0.0.1:8000/health",
        ),
    }
    return found[target.name]


def _docker(machine: Machine) -> str:
    return {"arm64": "arm64", "x86_64": "amd64"}[machine.architecture]
