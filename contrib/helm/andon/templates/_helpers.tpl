{{- define "andon.name" -}}
{{- if contains "andon" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-andon" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* The claim with the images, or nothing. */ -}}
{{- define "andon.claim" -}}
{{- if .Values.pictures.existingClaim }}{{ .Values.pictures.existingClaim }}{{ else if .Values.pictures.size }}{{ include "andon.name" . }}{{ end }}
{{- end }}

{{- /* Whether config has a disk cache. */ -}}
{{- define "andon.hasDisk" -}}
{{- if regexMatch "(?m)^[^#\n]*\\bdisk\\s*[=\\]]" .Values.config }}yes{{ end }}
{{- end }}

{{- /* Variables for what the Service and the probes need of the server and config does not say, as where it was imported. */ -}}
{{- define "andon.env" -}}
{{- if not (regexMatch (printf "(?m)^[^#\n]*listen\\s*=[^=]*:%v\\b" .Values.ports.http) .Values.config) }}
- {name: ANDON_LISTEN, value: "0.0.0.0:{{ .Values.ports.http }}"}
{{- end }}
{{- if not (regexMatch (printf "(?m)^[^#\n]*listen\\s*=[^=]*:%v\\b" .Values.ports.metrics) .Values.config) }}
- {name: ANDON_METRICS__LISTEN, value: "0.0.0.0:{{ .Values.ports.metrics }}"}
{{- end }}
{{- if not (regexMatch "(?m)^[^#\n]*grace\\s*=" .Values.config) }}
- {name: ANDON_TIMEOUTS__GRACE, value: 10s}
{{- end }}
{{- if and .Values.cache.disk (not (include "andon.hasDisk" .)) }}
- {name: ANDON_CACHE__DISK, value: '{ path = "/cache", size = "{{ .Values.cache.disk }}" }'}
{{- end }}
{{- end }}

{{- /* A size such as 8GiB or 10Gi in MiB; a GB counts as a GiB. */ -}}
{{- define "andon.mebibytes" -}}
{{- mulf (regexFind "^[0-9.]+" . | float64) (get (dict "K" 0 "M" 1 "G" 1024 "T" 1048576) (regexFind "[KMGT]" .) | default 0) }}
{{- end }}

{{- /* Fails where the cache's volume has no room for the disk cache: its pod would be evicted when the cache is full. */ -}}
{{- define "andon.checkCache" -}}
{{- $disk := .Values.cache.disk }}
{{- $written := regexFind "(?m)^[^#\n]*\"/cache\"[^#\n]*size\\s*=\\s*\"[^\"]+" .Values.config }}
{{- if include "andon.hasDisk" . }}{{ $disk = regexFind "[^\"]+$" $written }}{{ end }}
{{- if and $disk (le (include "andon.mebibytes" .Values.cache.sizeLimit | float64) (include "andon.mebibytes" $disk | float64)) }}
{{- fail (printf "cache.sizeLimit %s has to be more than the disk cache, %s, or pods are evicted when it is full" .Values.cache.sizeLimit $disk) }}
{{- end }}
{{- end }}

{{- define "andon.selector" -}}
app.kubernetes.io/name: andon
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "andon.metadata" -}}
name: {{ include "andon.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "andon.labels" . | nindent 2 }}
{{- end }}

{{- define "andon.labels" -}}
{{ include "andon.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}
