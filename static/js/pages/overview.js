// The overview is swapped in whole when anything on it has changed; live.js preserves the page's state.

import "./live.js";
