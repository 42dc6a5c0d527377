# Debian's slim image: the embedded Postgres and the npm package `node` need glibc. The digest is that of the tag's index, for all platforms.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS made

# Making the database client and the console takes development packages, which stay in this stage.
WORKDIR /app
COPY package.json package-lock.json .npmrc prisma.config.ts tsconfig.json ./
COPY scripts ./scripts
COPY prisma ./prisma
COPY types ./types
COPY console ./console
RUN mkdir -p src/store && node scripts/setup.mjs

FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build

WORKDIR /app
# What only development needs stays out of the image.
ENV NPM_CONFIG_OMIT=dev
COPY package.json package-lock.json .npmrc ./
COPY scripts ./scripts
COPY prisma ./prisma
COPY --from=made /app/src/store/generated ./src/store/generated
RUN node scripts/setup.mjs
COPY . .
COPY --from=made /app/console/dist ./console/dist
RUN node scripts/setup.mjs && find console -mindepth 1 -maxdepth 1 -not -name dist -exec rm -r {} + && rm -r types
# The database client accepts Prisma's command line and TypeScript, so npm leaves them in, although nothing runs them: 290 MB. The lock file stays as
# it was, since scripts/setup.mjs compares it.
RUN cp package-lock.json /tmp && npm pkg delete devDependencies && npm prune --no-audit --no-fund && mv /tmp/package-lock.json .

FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

RUN apt-get update \
 && apt-get install -y --no-install-recommends dumb-init \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o node -g node -m 0700 /data

WORKDIR /app
COPY --from=build /app ./

USER node
ENV HOST=0.0.0.0 DATA_DIR=/data NODE_COMPILE_CACHE=/home/node/.cache/tallyman
# Invalid settings end it when all is loaded, and what Node has compiled stays: a start takes half the time and 25 MB less.
RUN PORT=none node_modules/.bin/node --max-semi-space-size=16 --initial-old-space-size=32 --heap-growing-percent=60 src/main.ts || [ $? -eq 78 ]
VOLUME /data
EXPOSE 8080
# dumb-init passes signals on and reaps what the daemon leaves behind.
ENTRYPOINT ["dumb-init", "--"]
# The same settings of V8 as `npm start`: garbage is not left standing (docs/performance.md).
CMD ["node_modules/.bin/node", "--max-semi-space-size=16", "--initial-old-space-size=32", "--heap-growing-percent=60", "src/main.ts"]
