# Debian's slim image: the embedded Postgres and the npm package `node` need glibc.
FROM node:24.21.0-bookworm-slim

RUN apt-get update \
 && apt-get install -y --no-install-recommends dumb-init \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts ./scripts
COPY prisma.config.ts ./
COPY prisma ./prisma
RUN mkdir -p src/store && node scripts/setup.mjs
COPY . .
RUN node scripts/setup.mjs && mkdir -p /data && chown node:node /data

USER node
ENV HOST=0.0.0.0 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
# dumb-init passes signals on and reaps what the daemon leaves behind.
ENTRYPOINT ["dumb-init", "--"]
# The same settings of V8 as `npm start`: garbage is not left standing (docs/performance.md).
CMD ["node_modules/.bin/node", "--max-semi-space-size=4", "--initial-old-space-size=32", "--heap-growing-percent=30", "src/main.ts"]
