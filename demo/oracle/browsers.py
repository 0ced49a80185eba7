"""Starts Chromium and Firefox without their own services, which would contact hosts on the internet."""
import subprocess

CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb"]
FIREFOX = """user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("browser.safebrowsing.malware.enabled", false);
user_pref("browser.safebrowsing.phishing.enabled", false);
user_pref("extensions.update.enabled", false);
user_pref("gfx.color_management.force_srgb", true);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("browser.tabs.crashReporting.sendReport", false);
"""


def chromium(profile, url):
    return ["chromium", *CHROMIUM, f"--user-data-dir={profile}", url]


def firefox(profile, url):
    profile.mkdir()
    (profile / "user.js").write_text(FIREFOX)
    return ["firefox-esr", "--headless", "--no-remote", "--profile", profile, url]


BROWSERS = {"Chromium": chromium, "Firefox": firefox}


def start(name, profile, url):
    command = BROWSERS[name](profile, url)
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
