# What cloud-init's own data source finds at the metadata address, as a kernel's command line names it.
import json
import os
import tempfile

os.environ["DEBUG_PROC_CMDLINE"] = "ro ds=nocloud;s=http://169.254.169.254/"
from cloudinit import helpers
from cloudinit.sources import DataSourceNoCloud

with tempfile.TemporaryDirectory() as folder:
    paths = helpers.Paths({"cloud_dir": folder, "run_dir": folder})
    source = DataSourceNoCloud.DataSourceNoCloudNet({"datasource": {}}, None, paths)
    found = source._get_data()
    keys = ("instance-id", "local-hostname")
    print(
        json.dumps(
            {
                "found": found,
                "metadata": {key: source.metadata.get(key) for key in keys},
                "userdata": (source.userdata_raw or b"").decode()
                if isinstance(source.userdata_raw, bytes)
                else source.userdata_raw,
            }
        )
    )
