import { readYamlFile, type YamlFile } from '../../config/yaml-file.ts';

/** A manifest as it is written, before any default: what stands in it, and where. */
export function placesIn(manifestPath: string): Promise<YamlFile> {
  return readYamlFile(manifestPath, { aliases: false });
}
