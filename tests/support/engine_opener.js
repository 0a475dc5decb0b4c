// Opens the engine's files and store for a test.
const load = (name) => import(`${process.argv[2]}/${name}.js`);

export async function openFiles(home) {
  const { SiteFiles } = await load("site_files");
  return new SiteFiles(home);
}

export async function openStore(home, entry) {
  const { openStore } = await load("store");
  return openStore(await openFiles(home), entry);
}

export async function unpackContainer(data, most = 2 ** 20) {
  const { inflate, parseContainer } = await load("container");
  return parseContainer(await inflate(data, most));
}
