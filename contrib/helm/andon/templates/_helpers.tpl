{{- define "andon.name" -}}
{{- if contains "andon" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-andon" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* The claim with the images, or nothing. */ -}}
{{- define "andon.claim" -}}
{{- if .Values.pictures.existingClaim }}{{ .Values.pictures.existingClaim }}{{ else if .Values.pictures.size }}{{ include "andon.name" . }}{{ end }}
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
