# Untried: no Nix was at hand. nix build 'github:OWNER/andon?dir=contrib/nix', nix run … -- serve ~/photos
{
  description = "Andon, an image server";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = builtins.fromTOML (builtins.readFile ../../Cargo.toml);
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "andon";
          version = manifest.workspace.package.version;
          src = ../..;
          cargoLock.lockFile = ../../Cargo.lock;
          cargoBuildFlags = [ "--package" "andon-cli" "--bin" "andon" ];
          # bindgen reads libjxl's headers; crates build the C libraries, not this derivation.
          nativeBuildInputs = [ pkgs.cmake pkgs.nasm pkgs.rustPlatform.bindgenHook pkgs.installShellFiles ];
          dontUseCmakeConfigure = true;
          # The tests start servers and other programs; ./dev test runs them.
          doCheck = false;
          postInstall = ''
            $out/bin/andon man man
            installManPage man/*
            for shell in bash zsh fish; do
              $out/bin/andon completions $shell > andon.$shell
              installShellCompletion --$shell andon.$shell
            done
          '';
          meta = {
            description = manifest.workspace.package.description or "Image server: resize, crop, compose and convert images by URL";
            license = [ pkgs.lib.licenses.mit pkgs.lib.licenses.asl20 ];
            platforms = systems;
            mainProgram = "andon";
          };
        };
      });
    };
}
