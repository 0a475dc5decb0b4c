"""Render a platform's entry point and configuration files, and list its deploy commands."""

import shlex
from pathlib import Path

from .platforms import ZIP_FILE, Machine, Platform

_TEMPLATES = Path(__file__).resolve().parent / "templates"
# Templates of code are no modules of this package, so their names do not end like one's.
_TEMPLATE_SUFFIX = ".in"
_NAME = "answerable"
_DOCKER_ARCHITECTURES = {"arm64": "arm64", "x86_64": "amd64"}


def render_entry_files(platform: Platform, machine: Machine) -> dict[str, bytes]:
    """Render a platform's own files, by their names in its package."""
    folder = _TEMPLATES / platform.name
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob(f"*{_TEMPLATE_SUFFIX}")):
        name = path.relative_to(folder).as_posix().removesuffix(_TEMPLATE_SUFFIX)
        files[name] = path.read_bytes().replace(b"@python@", machine.version.encode())
    return files


def list_deploy_commands(platform: Platform, machine: Machine, out: Path) -> tuple[str, ...]:
    """List the three commands that deploy a package; words in capitals are yours to set."""
    folder = shlex.quote(str(out))
    archive = shlex.quote(f"fileb://{out / ZIP_FILE}")
    docker_platform = f"linux/{_DOCKER_ARCHITECTURES[machine.architecture]}"
    commands = {
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
            f"--base-image python{machine.version.replace('.', '')} --region REGION --memory 1Gi "
            "--max-instances 2 --allow-unauthenticated",
            f"gcloud run services describe {_NAME} --region REGION --format 'value(status.url)'",
        ),
        "vercel": (
            f"vercel link --cwd {folder}",
            f"vercel deploy --prod --cwd {folder}",
            "curl -s -o /dev/null -w '%{http_code}\\n' https://PROJECT.vercel.app/bundle/manifest.json",
        ),
        "azure": (
            "az functionapp create --name NAME --resource-group GROUP --storage-account STORAGE "
            "--flexconsumption-location REGION --runtime python "
            f"--runtime-version {machine.version}",
            f"(cd {folder} && func azure functionapp publish NAME --build remote)",
            "curl https://NAME.azurewebsites.net/health",
        ),
        "container": (
            f"docker build --platform {docker_platform} -t {_NAME} {folder}",
            f"docker run --rm --read-only --cap-drop ALL -p 8000:8000 {_NAME}",
            "curl http://127.0.0.1:8000/health",
        ),
    }
    return commands[platform.name]
