import { readYamlFile, type YamlFile } from '../../config/yaml-file.ts';

/** A manifest before defaults are applied: its values and their places. */
export function placesIn(manifestPath: string): Promise<YamlFile> {
  return readYamlFile(manifestPath, { aliases: false });
}
