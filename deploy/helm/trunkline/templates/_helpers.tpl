{{- define "trunkline.name" -}}
{{- printf "%s" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "trunkline.selector" -}}
app.kubernetes.io/name: trunkline
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "trunkline.labels" -}}
{{ include "trunkline.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "trunkline.scheme" -}}
{{- ternary "https" "http" (ne .Values.tls.secret "") -}}
{{- end -}}

{{- define "trunkline.check" -}}
{{- if and .Values.sip.enabled (not .Values.hostNetwork) -}}
{{- fail "sip.enabled needs hostNetwork: true, since the sound of SIP calls (RTP) comes to thousands of UDP ports" -}}
{{- end -}}
{{- if and .Values.sip.enabled (not .Values.sip.allow) -}}
{{- fail "sip.enabled needs sip.allow: the addresses and networks that may call" -}}
{{- end -}}
{{- if and .Values.tls.privateCa (not .Values.tls.secret) -}}
{{- fail "tls.privateCa needs tls.secret" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.enabled needs ingress.host" -}}
{{- end -}}
{{- end -}}
