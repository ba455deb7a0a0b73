/**
 * How changesets become entries of a package's CHANGELOG.md: as they are written, without hashes.
 * Called by changesets, by .changeset/config.json.
 */
module.exports = {
  async getReleaseLine({ summary }) {
    return summary.trim();
  },
  /** All packages have one version, so it goes without saying that they need each other's. */
  async getDependencyReleaseLine() {
    return '';
  },
};
