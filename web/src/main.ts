/** Starts the dashboard. */

import "./style/base.css";
import "./style/layout.css";
import "./style/panels.css";
import { Dashboard } from "./dashboard";

void new Dashboard().start();
