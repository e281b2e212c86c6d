"""Commands of platforms and of unknown programs are judged by their verb."""

import pytest

from troubleshoot.commands import dangers


@pytest.mark.parametrize(
    "command",
    [
        "aws logs delete-log-group --log-group-name x",
        "aws events delete-rule --name x",
        "aws ecr batch-delete-image --repository-name x --image-ids imageTag=a",
        "aws kms schedule-key-deletion --key-id x",
        "aws s3 sync images s3://bucket --delete",
        "aws s3 sync output s3://bucket --delete",
        "gcloud compute images delete web",
        "gcloud container images delete gcr.io/x/y",
        "gcloud logging logs delete x",
        "az appservice plan delete --name x",
        "az ad app credential reset --id x",
        "heroku run rails db:drop",
        "doctl compute droplet delete 123",
        "doctl kubernetes cluster delete prod",
        "wrangler r2 bucket delete x",
        "vault kv metadata delete secret/x",
        "aws-vault exec prod -- terraform destroy",
        "doppler run -- terraform destroy",
        "bq rm -r -f shop",
        "gsutil -m rm -r gs://bucket",
        "rclone sync a b",
        "wsl --unregister Ubuntu",
        "mix ecto.reset",
        "gh api -X DELETE repos/o/r",
        "gh secret delete X",
        "gh run delete 1",
        "unheard-of --yes delete x",
        "./run.sh delete",
    ],
)
def test_a_destructive_verb_is_found_at_any_depth(command: str) -> None:
    assert dangers(command)


@pytest.mark.parametrize(
    "command",
    [
        "aws logs describe-log-groups",
        "aws s3api list-delete-markers",
        "aws s3 cp delete.txt s3://bucket",
        "aws s3 sync images s3://bucket",
        "aws lambda invoke --function-name delete-user out.json",
        "gcloud compute images list",
        "gcloud config set project reset-1",
        "az appservice plan show --name delete",
        "az ad app credential reset --id x --append",
        "doctl compute droplet get delete",
        "vault kv get secret/delete",
        "aws-vault exec prod -- terraform plan",
        "gsutil -m cp drop gs://bucket",
        "rclone copy a b",
        "wsl --list",
        "gh api repos/o/r",
        "gh pr view delete-branch",
        "pip cache remove numpy",
        "zgrep delete app.log.gz",
        "findstr /i delete app.log",
        "Select-String delete app.log",
        "pytest -k delete",
        "pytest tests/x.py -k delete_user",
        "python -m pytest -k delete",
        "cargo test delete_user",
        "npx jest delete",
        "vitest run reset",
        "phpunit --filter delete",
        "rspec -e delete",
        "dig delete-me.example.com",
        "ping reset-server",
        "openssl s_client -connect reset-host:443",
        "nc reset-host 80",
        "tree delete",
        "locate delete",
        "unheard-of -k delete",
    ],
)
def test_a_destructive_verb_in_a_name_raises_no_alarm(command: str) -> None:
    assert dangers(command) == ()
