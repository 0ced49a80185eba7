{{- define "andon.name" -}}
{{- if contains "andon" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-andon" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* The claim with the images, or nothing. */ -}}
{{- define "andon.claim" -}}
{{- if .Values.pictures.existingClaim }}{{ .Values.pictures.existingClaim }}{{ else if .Values.pictures.size }}{{ include "andon.name" . }}{{ end }}
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
{{- if and .Values.cache.disk (not (regexMatch "(?m)^[^#\n]*\\bdisk\\s*[=\\]]" .Values.config)) }}
- {name: ANDON_CACHE__DISK, value: '{ path = "/cache", size = "{{ .Values.cache.disk }}" }'}
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
