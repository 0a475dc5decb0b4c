// A style sheet that the build puts into the script that imports it.
declare module "*.css" {
  const text: string;
  export default text;
}
